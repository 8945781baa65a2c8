"""Reports of `drift`, `drift convert` and `status`: formats, files, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.cli.main import run
from holdfast.drift.finding import DriftReport
from holdfast.errors import InputError
from holdfast.operations.describe.fleet_report import FleetRequest
from holdfast.operations.describe.status import SavedScan
from holdfast.report.documents.drift import drift_json
from holdfast.report.exchange.formats import DRIFT_FORMATS

from tests.unit.cli.drift_files import CONFIG, live, write
from tests.unit.report.reports import INCOMPLETE, REPORT

CONVERT = ("drift", "convert")
STATUS = ("status", "-s", "dev")


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
    assert run(["drift", "convert", saved, "-o", chosen]) == 0
    shown = capsys.readouterr().out
    assert ("nightly" if chosen != "prometheus" else 'class="missing"') in shown


def test_what_was_incomplete_when_it_was_saved_is_incomplete_when_it_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "drift.json"
    file.write_text(drift_json(INCOMPLETE))
    assert run(["drift", "convert", str(file)]) == 0
    text = capsys.readouterr().out
    assert "INCOMPLETE: 1 thing not checked" in text
    assert "objects checked" not in text, "a saved report does not say how many"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([*CONVERT, "absent.json"], "No such file or directory", id="no file"),
        pytest.param([*CONVERT, "BAD"], "no drift report", id="no report"),
        pytest.param([*CONVERT], "Missing argument 'FILE'", id="nothing"),
        pytest.param([*CONVERT, "SAVED", "--offline"], "No such option", id="FILE offline"),
        pytest.param([*CONVERT, "SAVED", "-s", "a", "-s", "b"], "expected one stack", id="two"),
        pytest.param([*CONVERT, "SAVED", "-o", "pdf"], "'pdf' is not one of 'text'", id="format"),
        pytest.param(
            [*CONVERT, "SAVED", "--report", "pdf=x"], "expected FORMAT=FILE", id="of a file"
        ),
        pytest.param(
            [*CONVERT, "SAVED", "--report", "html"], "expected FORMAT=FILE", id="without file"
        ),
        pytest.param(
            [*CONVERT, "SAVED", "--report", "html=no/x"], "no/x: no such folder", id="folder"
        ),
        pytest.param(
            [*CONVERT, "SAVED", "--report", "html=."], "expected a file, got a folder", id="is one"
        ),
        pytest.param(
            [*CONVERT, "SAVED", "--report", "html=x", "--report", "sarif=x"],
            "two reports",
            id="twice",
        ),
        pytest.param(["status"], "Missing option '-s'", id="no stack"),
        pytest.param([*STATUS, "-o", "sarif"], "'sarif' is not one of", id="no fleet format"),
        pytest.param(
            [*STATUS, "-o", "wide", "--report", "junit=x"],
            "expected FORMAT=FILE with one of wide, html, fleet",
            id="of a fleet's file",
        ),
        pytest.param([*STATUS, "--report", "html=x"], "--report requires -o wide", id="of text"),
        pytest.param([*STATUS, "--offline"], "--offline requires -o wide", id="text offline"),
        pytest.param([*STATUS, "-s", "dev"], "-o text reports one stack", id="two stacks"),
        pytest.param([*STATUS, "-o", "html", "--saved", "dev"], "expected STACK=FILE", id="scan"),
        pytest.param(
            [*STATUS, "-o", "wide", "--observed-at", "2026-11-20"], "requires --saved", id="no scan"
        ),
        pytest.param([*STATUS, "-o", "wide"], "no Pulumi.yaml here or above", id="no project"),
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
    assert run([named.get(each, each) for each in arguments]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""
    assert list(tmp_path.glob("x")) == []


SCAN = SavedScan(Path("p.json"), DriftReport())


@pytest.mark.parametrize(
    ("request_of", "message"),
    [
        pytest.param({"stacks": ("dev", "dev")}, "stack dev is named twice", id="twice"),
        pytest.param(
            {"scans": {"prod": SavedScan(Path("p.json"), DriftReport())}},
            "prod is not reported; add",
            id="other",
        ),
    ],
)
def test_a_fleet_is_asked_for_in_one_way(
    request_of: dict[str, Any], message: str, tmp_path: Path
) -> None:
    facts = {"stacks": ("dev",), **request_of}
    with pytest.raises(InputError, match=message):
        FleetRequest(tmp_path, made_at="2026-11-22T04:00:00Z", **facts).check()


def test_a_fleet_is_reported_without_a_cluster_and_nothing_of_it_is_fine(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "fleet.html"
    assert (
        run(["status", "-s", "prod", "--offline", "-o", "fleet", "--report", f"html={page}"]) == 0
    )
    (stack,) = json.loads(capsys.readouterr().out)["stacks"]
    assert {(each["sync"], each["health"]) for each in stack["agents"]} == {("Unknown", "Unknown")}
    assert stack["notChecked"][0]["scope"] == "cluster of stack prod"
    assert stack["heatMap"]["rules"] != []
    assert stack["topology"]["edges"] != []
    assert "nothing is known about drift of this stack" in page.read_text()


def test_a_saved_scan_stands_for_the_cluster(
    saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status", "-s", "prod", "--saved", f"prod={saved}", "-o", "fleet"]) == 1
    (stack,) = json.loads(capsys.readouterr().out)["stacks"]
    states = {each["name"]: each["sync"] for each in stack["agents"]}
    assert (states["support-rag"], states["coder"]) == ("OutOfSync", "Synced")
    assert {each["health"] for each in stack["agents"]} == {"Unknown"}
    assert stack["lookedAt"] == f"saved scan {saved}"


@pytest.mark.parametrize(
    ("options", "is_shown"),
    [
        pytest.param(("-o", "text"), True, id="text"),
        pytest.param(("-o", "json"), True, id="json"),
        pytest.param(("-o", "markdown"), False, id="comments and issues"),
        pytest.param(("-o", "github"), False, id="annotations"),
        pytest.param(("-o", "gitlab"), False, id="merge requests"),
        pytest.param(("-o", "markdown", "--values"), True, id="a comment with values"),
        pytest.param(("-o", "json", "--no-values"), False, id="json without values"),
        pytest.param(("-o", "text", "--no-values"), False, id="text without values"),
    ],
)
def test_values_are_left_out_where_strangers_read_along(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    is_shown: bool,
) -> None:
    desired = write(tmp_path, "desired.json", CONFIG)
    changed = write(tmp_path, "live.json", live(level="only-inside"))
    assert run(["drift", "--desired", desired, "--live", changed, *options]) == 7
    shown = capsys.readouterr().out
    assert ("only-inside" in shown) is is_shown
    assert "level" in shown
