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
        '  env: [{name: FLAG, value: "NO"}]\n'
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


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param(["-s", "dev", "--agent", "two"], 2, "there are: one", id="no-such-agent"),
        pytest.param(["-s", "qa"], 6, "no stack 'qa'", id="no-such-stack"),
        pytest.param(["-s", "dev", "-o", "dir"], 2, "name one with --to", id="no-folder"),
        pytest.param([], 2, "--stack", id="no-stack-given"),
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


def test_outside_a_project_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["render", "-s", "dev"]) == 2
    assert "run this inside the project" in capsys.readouterr().err
