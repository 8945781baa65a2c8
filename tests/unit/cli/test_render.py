import json
from pathlib import Path

import pytest
import yaml
from holdfast.cli.main import run

PROJECT = {
    "Pulumi.yaml": "name: holdfast\nruntime: python\n",
    "agents/one.yaml": (
        "apiVersion: holdfast.dev/v1alpha1\n"
        "kind: Agent\n"
        "metadata: {name: one, namespace: cx}\n"
        "spec:\n"
        "  version: 1.0.0\n"
        f"  image: registry.example/one@sha256:{'1' * 64}\n"
        '  container: {env: [{name: FLAG, value: "NO"}]}\n'
    ),
    "stacks/Pulumi.dev.yaml": "config:\n  holdfast:cluster: {identifier: dev}\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_prints_yaml_that_reads_back_as_the_objects_in_json(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["render", "-s", "dev"]) == 0
    documents = list(yaml.safe_load_all(capsys.readouterr().out))
    assert run(["render", "-s", "dev", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == documents
    assert [each["kind"] for each in documents][:2] == ["Namespace", "ServiceAccount"]


def test_writes_a_file_an_object_and_no_folder_that_holds_something(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["render", "-s", "dev", "-o", "dir", "--to", "out"]) == 0
    files = sorted(str(path.relative_to("out")) for path in Path("out").rglob("*.yaml"))
    assert "one/cx-deployment-one.yaml" in files
    assert "stack/namespace-cx.yaml" in files
    assert run(["render", "-s", "dev", "-o", "dir", "--to", "out"]) == 2
    assert "is not empty" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["kustomize", "flux", "pko"])
def test_what_the_operator_makes_is_delivered_by_nobody_else(project: Path, form: str) -> None:
    file = project / "stacks" / "Pulumi.dev.yaml"
    file.write_text(file.read_text() + "  holdfast:agentResources: {mode: expand}\n")
    source = ["--repo", "https://git.example/fleet.git"] if form == "flux" else []
    assert run(["render", "-s", "dev", "-o", form, "--to", "out", *source]) == 0
    text = "".join(path.read_text() for path in Path("out").rglob("*.yaml"))
    assert "Agent\n" in text.replace('"', "")
    assert "Deployment" not in text


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param(["-s", "dev", "--agent", "two"], 2, "there are: one", id="no-such-agent"),
        pytest.param(["-s", "qa"], 6, "no stack 'qa'", id="no-such-stack"),
        pytest.param(["-s", "dev", "-o", "dir"], 2, "name one with --to", id="no-folder"),
        pytest.param([], 2, "--stack", id="no-stack-given"),
        pytest.param(
            ["-s", "dev", "-s", "prod"], 2, "-o yaml holds one stack", id="two-stacks-in-one-text"
        ),
        pytest.param(
            ["-s", "dev", "--to", "x"], 2, "--to and --force have no effect", id="folder-for-yaml"
        ),
        pytest.param(
            ["-s", "dev", "-o", "helm", "--to", "x", "--repo", "https://git.example.com/x"],
            2,
            "have no effect with -o helm",
            id="repository-for-helm",
        ),
        pytest.param(
            ["-s", "dev", "-o", "flux", "--to", "x"], 2, "name it with --repo", id="no-repository"
        ),
        pytest.param(
            ["-s", "dev", "-o", "argocd", "--to", "../x", "--repo", "https://git.example.com/x"],
            2,
            "name its path from the root of the repository with --path",
            id="folder-outside-the-repository",
        ),
        pytest.param(
            ["-s", "dev", "-o", "helm", "--to", "Pulumi.yaml/x"],
            2,
            "name another folder with --to",
            id="folder-below-a-file",
        ),
    ],
)
def test_ends_in_one_message_and_its_exit_code(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    says: str,
) -> None:
    assert run(["render", *arguments]) == code
    written = capsys.readouterr()
    assert says in written.err
    assert written.out == ""


def test_forced_a_folder_loses_what_an_earlier_run_wrote_and_nothing_else(project: Path) -> None:
    assert run(["render", "-s", "dev", "-o", "kustomize", "--to", "out"]) == 0
    stale = Path("out/base/one/cx-deployment-one.yaml")
    assert stale.is_file()
    Path("out/README.md").write_text("mine")
    manifest = project / "agents/one.yaml"
    manifest.write_text(manifest.read_text().replace("name: one", "name: two"))
    assert run(["render", "-s", "dev", "-o", "kustomize", "--to", "out", "--force"]) == 0
    assert not stale.exists()
    assert Path("out/base/two/cx-deployment-two.yaml").is_file()
    assert Path("out/README.md").read_text() == "mine"


@pytest.mark.parametrize("form", ["dir", "kustomize", "helm", "argocd", "flux", "pko"])
def test_writes_the_same_bytes_every_time(project: Path, form: str) -> None:
    del project
    where = ["--repo", "https://git.example.com/x"] if form in ("argocd", "flux") else []
    for folder in ("a", "b"):
        arguments = ["-s", "dev", "-o", form, "--to", folder, *where]
        assert run(["render", *arguments, *(["--path", "x"] if where else [])]) == 0
    assert contents(Path("a")) == contents(Path("b"))
    assert contents(Path("a"))


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_outside_a_project_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["render", "-s", "dev"]) == 2
    assert "run this inside the project" in capsys.readouterr().err
