"""Reports of `holdfast drift` and `holdfast report`: formats, files, and what is refused."""

import json
from pathlib import Path

import pytest
from holdfast.cli.main import run
from holdfast.report.drift_json import drift_json
from holdfast.report.formats import DRIFT_FORMATS

from tests.unit.cli.test_drift import CONFIG, live, write
from tests.unit.report.reports import INCOMPLETE, REPORT


@pytest.fixture
def drifted(tmp_path: Path) -> list[str]:
    """Arguments of a scan that finds drift."""
    desired = write(tmp_path, "desired.json", CONFIG)
    return [
        "drift",
        "--desired",
        desired,
        "--live",
        write(tmp_path, "live.json", live(level="debug")),
    ]


@pytest.fixture
def saved(tmp_path: Path) -> str:
    file = tmp_path / "drift.json"
    file.write_text(drift_json(REPORT))
    return str(file)


def test_one_scan_writes_as_many_reports_as_are_wanted(
    drifted: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, lines = tmp_path / "page.html", tmp_path / "drift.sarif"
    assert (
        run([*drifted, "-o", "json", "--report", f"html={page}", "--report", f"sarif={lines}"]) == 7
    )
    shown = capsys.readouterr()
    assert json.loads(shown.out)["findings"][0]["path"] == "data.level"
    assert f"wrote {page}" in shown.err
    assert "data.level" in page.read_text()
    result = json.loads(lines.read_text())["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place == str(tmp_path / "desired.json")


def test_an_output_file_takes_the_place_of_standard_output(
    drifted: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "drift.md"
    assert run([*drifted, "-o", "markdown", "--output-file", str(file)]) == 7
    assert capsys.readouterr().out == ""
    assert file.read_text().startswith("### ⚠️ Drift\n")


@pytest.mark.parametrize("chosen", DRIFT_FORMATS)
def test_a_saved_report_is_shown_in_any_format(
    saved: str, chosen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", saved, "-o", chosen]) == 0
    shown = capsys.readouterr().out
    assert ("nightly" if chosen != "prometheus" else 'class="missing"') in shown


def test_what_was_incomplete_when_it_was_saved_is_incomplete_when_it_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "drift.json"
    file.write_text(drift_json(INCOMPLETE))
    assert run(["report", str(file)]) == 0
    text = capsys.readouterr().out
    assert "INCOMPLETE: 1 thing not checked" in text
    assert "objects checked" not in text, "a saved report does not say how many"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["absent.json"], "absent.json: No such file or directory", id="no file"),
        pytest.param(["BAD"], "no drift report", id="no report"),
        pytest.param(["SAVED", "-o", "pdf"], "'pdf' is not one of 'text'", id="format"),
        pytest.param(["SAVED", "--report", "pdf=x"], "expected FORMAT=FILE", id="of a file"),
        pytest.param(["SAVED", "--report", "html"], "expected FORMAT=FILE", id="without file"),
        pytest.param(["SAVED", "--report", "html=no/x"], "no/x: no such folder", id="folder"),
        pytest.param(["SAVED", "--report", "html=."], "expected a file, got a folder", id="is one"),
        pytest.param(
            ["SAVED", "--report", "html=x", "--report", "sarif=x"], "two reports", id="twice"
        ),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    saved: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text("{}")
    named = {"SAVED": saved, "BAD": "bad.json"}
    assert run(["report", *(named.get(each, each) for each in arguments)]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""
    assert list(tmp_path.glob("x")) == []
