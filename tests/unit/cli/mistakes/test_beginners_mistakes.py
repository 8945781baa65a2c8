"""Typical mistakes of a beginner, in every kind of file: one error, its place, and the correction.

The tables `*.txt` beside this file hold the mistakes; `first_project.py` says how to read them.
"""

from pathlib import Path

import pytest
from holdfast.cli.main import run

from tests.unit.cli.mistakes.first_project import (
    FILES,
    Mistake,
    assert_corrected,
    mistakes_of,
    write_project,
)

TABLES = sorted(Path(__file__).parent.glob("*.txt"))
MISTAKES = [row for table in TABLES for row in mistakes_of(table)]


def test_the_project_without_a_mistake_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    assert run(["validate"]) == 0, capsys.readouterr()


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_error_with_its_place_and_what_to_write_instead(
    case: Mistake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_corrected(tmp_path, case, capsys)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("\n", "\r\n", id="line ends of Windows"),
        pytest.param("kind: Agent", "kind:\tAgent", id="a tab behind a colon"),
        pytest.param("  budget: {timeout: 10m}", "  budget:", id="a part without value"),
        pytest.param("value: info", 'value: "#42: a, b"', id="signs in quotes"),
    ],
)
def test_what_is_no_mistake_is_accepted(
    before: str,
    after: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed = {
        file: text.replace(before, after) if file.startswith("agents/") else text
        for file, text in FILES.items()
    }
    write_project(tmp_path, changed)
    monkeypatch.chdir(tmp_path)
    assert run(["validate"]) == 0, capsys.readouterr()
