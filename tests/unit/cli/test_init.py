"""`holdfast init`: a whole repository or nothing, for the cluster that it names."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast import __version__
from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.backoff import Backoff
from holdfast.cli.main import run
from holdfast.operations.project.stack_file import stack_file_text
from holdfast.operations.project.survey import ClusterSurvey

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, fake_api, page

TEMPLATE = Path(__file__).resolve().parents[3] / "templates" / "fleet"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
SLICE = {
    "metadata": {"name": "kubernetes"},
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["10.0.0.11", "10.0.0.10"]}],
    "ports": [{"name": "https", "port": 6443}],
}


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without a cluster and without a repository around it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(backoff, "REQUESTS", Backoff(0.0, 0.0))


def groups(*names: str) -> Answer:
    return Answer({"kind": "APIGroupList", "groups": [{"name": name} for name in names]})


def kinds(*names: str) -> Answer:
    return Answer({"resources": [{"name": name.lower() + "s", "kind": name} for name in names]})


def write_kubeconfig(file: Path, url: str, context: str = "mine") -> Path:
    document = {
        "current-context": context,
        "clusters": [{"name": "one", "cluster": {"server": url}}],
        "contexts": [{"name": context, "context": {"cluster": "one", "user": "one"}}],
        "users": [{"name": "one", "user": {"token": "t"}}],
    }
    file.write_text(json.dumps(document))
    return file


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    """A cluster that the kubeconfig names as its current one."""
    with fake_api() as running:
        running.on("/apis", groups("apps"))
        running.on(SLICES, page(SLICE))
        file = write_kubeconfig(tmp_path / "kubeconfig", running.url)
        monkeypatch.setenv("KUBECONFIG", str(file))
        yield running


def written(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What one run says, as JSON."""
    assert run(["init", *arguments, "-o", "json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def config(folder: Path, stack: str = "dev") -> dict[str, Any]:
    loaded = yaml.safe_load((folder / f"stacks/Pulumi.{stack}.yaml").read_text())
    found: dict[str, Any] = loaded["config"]
    return found


def test_a_folder_gets_every_part_of_a_repository(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "fleet"]) == 0
    said = capsys.readouterr().out
    parts = ["Pulumi.yaml", "infra/__main__.py", "agents/hello.yaml", "stacks/Pulumi.dev.yaml"]
    parts += ["policy-pack/PulumiPolicy.yaml", "policy-pack/rules/README.md", ".gitignore"]
    parts += ["tests/test_program.py", "tests/test_policy.py", "README.md", "Makefile"]
    parts += [".github/workflows/pull-request.yml", ".github/workflows/drift.yml"]
    for part in parts:
        assert (Path("fleet") / part).is_file(), part
        assert f"wrote fleet/{part}" in said
    assert "stack dev: for the sandbox of this machine (no kubeconfig at" in said
    assert said.endswith("  holdfast sandbox up\n  holdfast up -s dev\n")
    assert Path("fleet/.git").is_dir()


def test_the_project_has_its_own_name_and_the_version_that_wrote_it() -> None:
    assert run(["init", "my fleet", "--no-cluster"]) == 0
    project = yaml.safe_load(Path("my fleet/Pulumi.yaml").read_text())
    assert project["name"] == "my-fleet"
    assert "template" not in project
    assert f"holdfast[pulumi]=={__version__}\n" in Path("my fleet/requirements.txt").read_text()
    left = [
        str(file)
        for file in Path("my fleet").rglob("*")
        if file.is_file() and ".git" not in file.parts and "${P" in file.read_text()
    ]
    assert left == []


def test_what_it_writes_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "fleet", "--no-cluster"]) == 0
    os.chdir("fleet")
    assert run(["validate"]) == 0
    assert run(["policy", "check", "-s", "dev", "-o", "json"]) == 0
    assert '"mandatory": 0' in capsys.readouterr().out


@pytest.mark.parametrize("stack", ["dev", "staging", "eu-1"])
def test_another_stack_is_named_wherever_the_first_one_is(stack: str) -> None:
    assert run(["init", "fleet", "-s", stack, "--no-cluster"]) == 0
    os.chdir("fleet")
    assert run(["validate"]) == 0
    assert config(Path(), stack)["holdfast:policy"] == {"profile": "dev"}
    deploy = yaml.safe_load(Path(".github/workflows/deploy.yml").read_text())["jobs"]["deploy"]
    assert (deploy["environment"], deploy["env"]["STACK"]) == (stack, stack)
    drift = yaml.safe_load(Path(".github/workflows/drift.yml").read_text())["jobs"]["drift"]
    assert (drift["environment"], drift["env"]["STACK"]) == (f"{stack}-read", stack)


def test_the_template_s_stack_is_what_is_written_for_a_sandbox() -> None:
    assert (TEMPLATE / "stacks/Pulumi.dev.yaml").read_text() == stack_file_text("dev", None)


@pytest.mark.parametrize("name", ["prod", "arn:aws:eks:eu-1:1:cluster/x", "no", "12", "1e3", "ü#"])
def test_any_context_is_read_as_it_is_called(name: str) -> None:
    text = stack_file_text("dev", ClusterSurvey(name, ("keda",), ("10.0.0.1/32", "fd00::1/128")))
    cluster = yaml.safe_load(text)["config"]["holdfast:cluster"]
    assert cluster == {"context": name, "identifier": "dev"}


@pytest.mark.parametrize(
    "present",
    ["README.md", "agents/hello.yaml", ".github/workflows/drift.yml", "tests/test_policy.py"],
)
def test_nothing_is_written_where_a_file_exists(
    present: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path("fleet") / present
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    assert run(["init", "fleet", "--no-cluster"]) == 2
    assert f"fleet: {present}: exist already" in capsys.readouterr().err
    assert [each for each in Path("fleet").rglob("*") if each.is_file()] == [file]
    assert file.read_text() == "mine"


@pytest.mark.parametrize("name", ["agents", ".github", "tests", "stacks"])
def test_nothing_is_written_through_a_link(name: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path("fleet").mkdir()
    (Path("fleet") / name).symlink_to(tmp_path / "elsewhere")
    assert run(["init", "fleet", "--no-cluster"]) == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_nor_where_a_dangling_link_or_a_file_is_in_the_way() -> None:
    Path("fleet").mkdir()
    Path("fleet/Makefile").symlink_to("nothing")
    assert run(["init", "fleet", "--no-cluster"]) == 2
    Path("file").write_text("")
    assert run(["init", "file", "--no-cluster"]) == 2
    Path("other").mkdir()
    Path("other/agents").write_text("")
    assert run(["init", "other", "--no-cluster"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["x", "--name", "a b"], "invalid project name 'a b'", id="name"),
        pytest.param(["x", "--name", "../up"], "invalid project name", id="path"),
        pytest.param(["x", "-s", "../up"], "invalid stack name", id="stack"),
        pytest.param(["x", "-s", ""], "invalid stack name", id="empty stack"),
        pytest.param(["x", "--context", "absent"], "no kubeconfig at", id="no such context"),
        pytest.param(["x", "--no-cluster", "--context", "c"], "excludes --context", id="both"),
    ],
)
def test_bad_input_is_one_error_and_writes_nothing(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert not Path("x").exists()


def test_a_repository_around_it_is_kept() -> None:
    subprocess.run(["git", "init", "--quiet"], check=True)
    assert run(["init", "fleet", "--no-cluster"]) == 0
    assert not Path("fleet/.git").exists()


def test_the_current_cluster_is_asked_and_named(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("/apis", groups("apps", "keda.sh", "kustomize.toolkit.fluxcd.io", "cilium.io"))
    said = written(capsys, "fleet")
    assert said["cluster"]["source"] == "current"
    assert said["cluster"]["controllers"] == ["cilium", "flux", "keda"]
    assert "holdfast sandbox up" not in said["next"]
    found = config(Path("fleet"))
    assert found["holdfast:cluster"] == {"context": "mine", "identifier": "dev"}
    assert found["holdfast:controllers"] == ["cilium", "flux", "keda"]
    address = {"cidrs": ["10.0.0.10/32", "10.0.0.11/32"], "port": 6443}
    assert found["holdfast:network"] == {"apiServer": address}
    os.chdir("fleet")
    assert run(["validate"]) == 0


@pytest.mark.parametrize(
    ("served", "controllers"),
    [
        (("Application",), ["argo-cd"]),
        (("Rollout",), ["argo-rollouts"]),
        (("Application", "Rollout"), ["argo-cd", "argo-rollouts"]),
        (("Workflow",), []),
    ],
)
def test_what_shares_a_group_is_told_apart_by_its_kinds(
    api: FakeApi,
    served: tuple[str, ...],
    controllers: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    api.on("/apis", groups("argoproj.io"))
    api.on("/apis/argoproj.io/v1alpha1", kinds(*served))
    assert written(capsys, "fleet", "--context", "mine")["cluster"]["controllers"] == controllers


def test_addresses_that_may_not_be_read_are_said_and_left_out(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on(SLICES, failure(403, "forbidden"))
    (note,) = written(capsys, "fleet", "--context", "mine")["cluster"]["notes"]
    assert note.startswith("the API server's addresses were not read: ")
    assert "holdfast:network" not in config(Path("fleet"))


def test_a_named_cluster_that_does_not_answer_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:9")
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert run(["init", "fleet", "--context", "mine"]) == 1
    assert not Path("fleet").exists()
    assert "Traceback" not in capsys.readouterr().err
    said = written(capsys, "fleet")
    assert said["cluster"]["source"] == "sandbox"
    assert "127.0.0.1:9" in said["cluster"]["notes"][0]


def preferred(*versions: str) -> Answer:
    """What a server offers, each group in one version."""
    offered = [
        {
            "name": version.partition("/")[0],
            "versions": [{"groupVersion": version}],
            "preferredVersion": {"groupVersion": version},
        }
        for version in versions
    ]
    return Answer({"kind": "APIGroupList", "groups": offered})


@pytest.fixture
def running(api: FakeApi) -> FakeApi:
    """A cluster in which one Deployment runs."""
    api.on("/apis", preferred("apps/v1"))
    api.on("/api/v1", Answer({"resources": []}))
    resource = {"name": "deployments", "kind": "Deployment", "namespaced": True}
    api.on("/apis/apps/v1", Answer({"resources": [resource]}))
    pods = {"containers": [{"name": "web", "image": f"registry.example/web@sha256:{'7' * 64}"}]}
    spec = {"minReadySeconds": 5, "replicas": 1, "selector": {"matchLabels": {"app": "web"}}}
    spec["template"] = {"metadata": {"labels": {"app": "web"}}, "spec": pods}
    workload = {"metadata": {"name": "web", "namespace": "shop", "uid": "1"}, "spec": spec}
    for path in ("/apis/apps/v1/deployments", "/apis/apps/v1/namespaces/shop/deployments"):
        api.on(path, page(workload))
    return api


def test_what_runs_becomes_a_repository_with_its_first_findings(
    running: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", "fleet", "--from-cluster", "-o", "json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["agents"] == ["agents/shop/web.yaml"]
    paths = {each["path"] for each in said["notDeclared"]}
    assert "spec.minReadySeconds" in paths
    assert said["findings"]["violations"]["requests-and-limits"] >= 1
    assert not said["findings"]["complete"], "most kinds cannot be read here"
    assert "`spec.minReadySeconds`" in Path("fleet/IMPORT.md").read_text()
    assert not Path("fleet/agents/hello.yaml").exists()
    assert config(Path("fleet"))["holdfast:namespaces"] == "existing"
    assert {method for method, *_ in running.requests} == {"GET"}
    os.chdir("fleet")
    assert run(["validate"]) == 0


def test_the_text_says_what_was_imported_and_what_comes_next(
    running: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", "fleet", "--from-cluster", "-n", "shop"]) == 1
    said = capsys.readouterr().out
    assert "  agents/    1 manifest of 1 namespace\n" in said
    assert "first findings:\n  policy  " in said
    assert said.endswith("  holdfast preview -s dev\n")
    assert "/apis/apps/v1/deployments" not in running.paths()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["-n", "shop"], "-n needs --from-cluster", id="namespace alone"),
        pytest.param(["--from-cluster", "--no-cluster"], "requires a cluster", id="both"),
        pytest.param(["--from-cluster"], "no workload to import", id="nothing runs"),
    ],
)
def test_what_cannot_be_imported_is_one_error_and_writes_nothing(
    api: FakeApi, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("/apis", preferred("apps/v1"))
    api.on("/api/v1", Answer({"resources": []}))
    api.on("/apis/apps/v1", Answer({"resources": []}))
    assert run(["init", "x", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not Path("x").exists()
