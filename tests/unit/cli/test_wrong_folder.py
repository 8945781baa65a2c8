"""Verbs in the folder of another project or of an empty one: told as such, nothing written."""

from pathlib import Path

import pytest
from holdfast.cli.main import run


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param(["validate"], 2, "no folder agents/ in {root}", id="validate"),
        pytest.param(["render", "-s", "dev"], 6, "create it in {root}", id="render"),
        pytest.param(
            ["history", "dev"], 6, "there is no stacks/Pulumi.STACK.yaml in {root}", id="history"
        ),
    ],
)
def test_another_project_s_folder_is_reported_and_left_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: web\nruntime: nodejs\n")
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == code
    assert words.format(root=tmp_path) in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["Pulumi.yaml"]


@pytest.mark.parametrize("arguments", [["validate"], ["render", "-s", "dev"]])
def test_a_project_that_declares_nothing_is_reported_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: holdfast\n")
    for folder in ("agents", "stacks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text("config: {}\n")
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 0
    told = "note: no manifest lies in agents/: nothing is declared\n"
    assert capsys.readouterr().err.endswith(told)
    assert run(["render", "-s", "dev", "--agent", "x"]) == 2
    assert capsys.readouterr().err == "error: no agent 'x' on stack dev; there are: none\n"
