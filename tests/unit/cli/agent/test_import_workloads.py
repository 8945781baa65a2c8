"""`holdfast agent import`: files in, manifests and an honest list out."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.backoff import Backoff
from holdfast.cli.main import run

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, fake_api, page

DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"
CUT = Answer(b'{"kind": "List", "items": [{"meta')
DIGEST = f"sha256:{'7' * 64}"
OBJECTS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  minReadySeconds: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "registry.example/web:1.0.0"}]
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: shop}
"""


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    file = tmp_path / "web.yaml"
    file.write_text(OBJECTS)
    return file


@pytest.fixture
def digests(tmp_path: Path) -> Path:
    file = tmp_path / "digests.yaml"
    file.write_text(f'"registry.example/web:1.0.0": {DIGEST}\n')
    return file


def test_the_manifest_goes_to_standard_output_and_what_is_lost_to_standard_error(
    objects: Path, digests: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["agent", "import", str(objects), "--digests", str(digests)]) == 1
    captured = capsys.readouterr()
    manifest = yaml.safe_load(captured.out)
    assert manifest["spec"]["image"] == f"registry.example/web@{DIGEST}"
    assert "not carried: Deployment shop/web: spec.minReadySeconds = 5" in captured.err
    assert "left as they are, no agent's: Secret shop/key" in captured.err
    assert (
        "1 imported: not carried: 1 field; to pin: 0 images; with pod.overrides: 0" in captured.err
    )


def test_everything_carried_is_success(
    objects: Path, digests: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects.write_text(OBJECTS.replace("  minReadySeconds: 5\n", ""))
    assert run(["agent", "import", str(objects), "--digests", str(digests)]) == 0
    assert "not carried: 0 fields" in capsys.readouterr().err


def test_an_image_without_digest_is_named_with_the_command_that_pins_it(
    objects: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["agent", "import", str(objects)]) == 1
    image = "registry.example/web:1.0.0"
    assert f"`docker buildx imagetools inspect {image}`" in capsys.readouterr().err


def test_a_folder_gets_one_file_an_agent_and_none_is_replaced_unasked(
    objects: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "agents"
    assert run(["agent", "import", str(objects), "--to", str(folder)]) == 1
    text = (folder / "web.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=")
    assert capsys.readouterr().out == ""
    assert run(["agent", "import", str(objects), "--to", str(folder)]) == 2
    assert "is there already; add --overwrite" in capsys.readouterr().err
    assert run(["agent", "import", str(objects), "--to", str(folder), "--overwrite"]) == 1
    assert (folder / "web.yaml").read_text() == text


def test_json_has_manifest_and_list(objects: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["agent", "import", str(objects), "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    [agent] = document["agents"]
    assert agent["manifest"]["metadata"]["name"] == "web"
    assert agent["notCarried"][0]["path"] == "spec.minReadySeconds"
    assert agent["imagesToPin"] == ["registry.example/web:1.0.0"]
    assert document["untouched"] == ["Secret shop/key"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param([], "expected files, or --from-cluster", id="nothing"),
        pytest.param(["web.yaml", "--from-cluster"], "expected files, or", id="both"),
        pytest.param(["web.yaml", "-n", "shop"], "need --from-cluster", id="namespace of a file"),
        pytest.param(["digests.yaml"], "without apiVersion", id="no object"),
        pytest.param(["secret.yaml"], "no workload to import", id="no workload"),
        pytest.param(["web.yaml", "--digests", "bad.yaml"], "64 hexadecimal digits", id="digest"),
    ],
)
def test_bad_input_is_one_error(
    objects: Path,
    digests: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(objects.parent)
    Path("secret.yaml").write_text(OBJECTS.partition("---\n")[2])
    Path("bad.yaml").write_text("image: sha256:12\n")
    assert digests.exists()
    assert run(["agent", "import", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeApi]:
    """A cluster with one workload, which the kubeconfig of the test names."""
    monkeypatch.setattr(backoff, "REQUESTS", Backoff(0.0, 0.0))
    (workload, *_) = yaml.safe_load_all(OBJECTS)
    with fake_api() as running:
        running.on(DEPLOYMENTS, page(workload))
        running.on("/apis/apps/v1/namespaces/shop/statefulsets", page())
        running.on("/apis/batch/v1/namespaces/shop/cronjobs", page())
        cluster = {"name": "one", "cluster": {"server": running.url}}
        context = {"name": "one", "context": {"cluster": "one", "user": "one", "namespace": "shop"}}
        (tmp_path / "kubeconfig").write_text(
            json.dumps(
                {
                    "current-context": "one",
                    "clusters": [cluster],
                    "contexts": [context],
                    "users": [{"name": "one", "user": {"token": "t"}}],
                }
            )
        )
        yield running


def test_a_cluster_s_answer_that_is_cut_short_is_asked_for_again(
    api: FakeApi, digests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (whole,) = api.answers[DEPLOYMENTS]
    api.on(DEPLOYMENTS, CUT, whole)

    at = ("--kubeconfig", str(tmp_path / "kubeconfig"))
    code = run(["agent", "import", "--from-cluster", *at, "--digests", str(digests)])

    assert code == 1
    assert yaml.safe_load(capsys.readouterr().out)["metadata"]["name"] == "web"
    assert api.paths().count(DEPLOYMENTS) == 2


def test_one_that_stays_cut_short_is_an_error_and_imports_nothing(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on(DEPLOYMENTS, CUT)

    code = run(["agent", "import", "--from-cluster", "--kubeconfig", str(tmp_path / "kubeconfig")])

    captured = capsys.readouterr()
    assert code == 1
    assert captured.out == ""
    assert f"GET {DEPLOYMENTS}: an unreadable answer" in captured.err
    assert "Traceback" not in captured.err
