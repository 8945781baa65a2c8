"""Completion: the script loads, and a shell that asks gets verbs, parts, choices and stacks."""

import shutil
import subprocess
from pathlib import Path

import pytest
from holdfast.cli.main import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: holdfast\n")
    (tmp_path / "stacks").mkdir()
    for stack in ("dev", "prod"):
        (tmp_path / "stacks" / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    monkeypatch.setenv("_HOLDFAST_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    with pytest.raises(SystemExit) as ended:
        run([])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    return [line.partition(",")[2] for line in lines if line]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("holdfast dr", ["drift"], id="verb"),
        pytest.param("holdfast drift rev", ["revert"], id="part of a verb"),
        pytest.param("holdfast agent rest", ["restart", "restore"], id="verb of a group"),
        pytest.param("holdfast validate -o j", ["json"], id="choice"),
        pytest.param("holdfast drift -s ", ["dev", "prod"], id="stacks"),
        pytest.param("holdfast policy check --stack p", ["prod"], id="stack begun"),
        pytest.param("holdfast promote --from d", ["dev"], id="stack of promote"),
        pytest.param("holdfast diff d", ["dev"], id="first stack of diff"),
        pytest.param("holdfast diff dev ", ["dev", "prod"], id="second stack of diff"),
        pytest.param("holdfast history p", ["prod"], id="stack of history"),
        pytest.param("holdfast agent describe x -s p", ["prod"], id="below a group"),
        pytest.param("holdfast drift plan -s ", ["dev", "prod"], id="below a verb"),
        pytest.param("holdfast agent restart x -s d", ["dev"], id="verb of a group's"),
        pytest.param("holdfast nothing x", [], id="unknown verb"),
    ],
)
def test_a_shell_gets_what_fits(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    words: list[str],
) -> None:
    assert completed(line, monkeypatch, capsys) == words


def test_outside_a_project_there_are_no_stacks_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert completed("holdfast drift -s ", monkeypatch, capsys) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_names_the_variable_that_is_answered(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["completion", shell]) == 0
    assert f"_HOLDFAST_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_bash_reads_its_script(capsys: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    assert run(["completion", "bash"]) == 0
    text = capsys.readouterr().out.encode()
    subprocess.run([bash, "-n"], input=text, check=True)
