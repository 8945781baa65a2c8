"""Scans leave a history, and `holdfast history --scans` tells it; the clock is the test's."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from holdfast.cli.main import run
from holdfast.report.documents.history import history_schema

from tests.unit.cli.drift_files import CONFIG, live, write

DAYS = tuple(f"2026-11-{day}T09:00:00Z" for day in (16, 17, 18))
SECRET = "s3cr3t-Value-42"


def three_scans(tmp_path: Path) -> Path:
    """Three scans over two days: one label, then six of them, then these and another value."""
    desired = write(tmp_path, "desired.json", CONFIG)
    file = tmp_path / "scans.jsonl"
    for day, labels, level in zip(DAYS, (1, 6, 6), ("info", "info", "debug"), strict=True):
        found = live(level=level)
        found["metadata"]["labels"] = {f"label-{number}": "x" for number in range(labels)}
        found["data"]["db-password"] = SECRET
        live_file = write(tmp_path, "live.json", found)
        arguments = ["--desired", desired, "--live", live_file, "--history", str(file)]
        assert run(["drift", *arguments, "--observed-at", day]) == 7
    return file


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """The file of these scans."""
    return three_scans(tmp_path)


def history(scans: Path, *arguments: str) -> list[str]:
    return ["history", "--scans", "--history", str(scans), *arguments]


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_first_seen_count_and_age_are_reported(
    scans: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(history(scans)) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"history: 3 scans, the last at {DAYS[2]}\n")
    assert f"seen since {DAYS[0]}, 2d, 3 times, last {DAYS[2]}" in text
    assert f"seen since {DAYS[1]}, 1d, 2 times, last {DAYS[2]}" in text
    assert f"alert at {DAYS[1]}: 6 low findings were open" in text


def test_the_scan_of_a_moment_is_reported_in_full(
    scans: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(history(scans, "--at", "2026-11-17T20:00:00+01:00", "-o", "json")) == 0
    document = told(capsys)
    assert document["observedAt"] == DAYS[1]
    assert document["scans"] == 2
    paths = {each["path"]: each for each in document["report"]["findings"]}
    assert "data.level" not in paths
    assert paths["metadata.labels.label-5"]["live"] == "x"
    assert document["objectsChecked"] == 1
    first = next(each for each in document["findings"] if each["path"] == "metadata.labels.label-0")
    assert (first["firstSeen"], first["count"], first["ageSeconds"]) == (DAYS[0], 2, 86_400)
    assert run(history(scans, "--at", "2026-11-18")) == 0
    assert "label-5" in capsys.readouterr().out


def test_the_configuration_of_a_moment_is_what_was_seen_then(
    scans: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = history_schema()
    for moment, level in ((DAYS[1], "info"), (DAYS[2], "debug")):
        capsys.readouterr()
        assert run(history(scans, "--at", moment, "-o", "json")) == 0
        document = told(capsys)
        jsonschema.validate(document, schema)
        (one,) = document["configuration"]
        assert one["data"]["level"] == level
        assert one["metadata"]["labels"]["label-5"] == "x"
        assert document["brokenRules"] == {"no-literal-credentials": ["ConfigMap cx/support"]}
    assert SECRET not in scans.read_text()
    assert run(history(scans, "--at", DAYS[2])) == 0
    assert "configuration: 1 objects; -o json prints them" in capsys.readouterr().out


def test_one_alert_is_raised_with_the_scan_that_makes_it_too_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scans = three_scans(tmp_path)
    shown = capsys.readouterr()
    assert shown.err.count("alert: 6 low findings are open") == 1
    assert run(history(scans, "--alert-after", "7", "-o", "json")) == 0
    assert told(capsys)["alerts"] == []


def test_a_later_report_says_since_when(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    three_scans(tmp_path)
    assert f"seen     since {DAYS[0]}, 2d, 3 times" in capsys.readouterr().out


def test_no_secret_is_kept(scans: Path) -> None:
    assert SECRET not in scans.read_text()
    assert "db-password" in scans.read_text()


def test_files_leave_no_history_unless_reported(tmp_path: Path) -> None:
    desired = write(tmp_path, "desired.json", CONFIG)
    live_file = write(tmp_path, "live.json", live(level="info"))
    assert run(["drift", "--desired", desired, "--live", live_file]) == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["desired.json", "live.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "no stack is named", id="nothing asked"),
        pytest.param(["--history", "absent"], "absent: no scan was recorded", id="no scan"),
        pytest.param(["--history", "SCANS", "--at", "2026-11-01"],
                     "no scan was made by 2026-11-01T00:00:00Z; the first was at 2026-11-16",
                     id="too early"),
        pytest.param(["--history", "SCANS", "--at", "yesterday"],
                     "expected a time such as 2026-11-21T12:00:00Z, got 'yesterday'", id="no time"),
        pytest.param(["--history", "SCANS", "--alert-after", "0"], "0 is not in the range",
                     id="threshold"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message_and_exit_code_2(
    scans: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    capsys.readouterr()
    named = {"SCANS": str(scans)}
    assert run(["history", "--scans", *(named.get(each, each) for each in arguments)]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""


def test_keeping_and_not_keeping_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["drift", "--desired", "x", "--history", "y", "--no-history"]
    assert run(arguments) == 2
    assert "exclude each other" in capsys.readouterr().err
