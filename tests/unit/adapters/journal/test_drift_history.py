"""The journal of scans: append-only, safe against crashes and against each other."""

import json
import multiprocessing
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from holdfast.adapters.journal.drift_history import history_file, read_history, record_scan
from holdfast.adapters.journal.journal import JournalError
from holdfast.drift.finding import DriftReport
from holdfast.drift.masking import MASK, MASK_CHANGED

from tests.unit.report.reports import CLEAN, INCOMPLETE, REPORT

MONDAY, TUESDAY, WEDNESDAY = (f"2026-11-{day}T09:00:00Z" for day in (16, 17, 18))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return history_file(tmp_path / "state", "holdfast", "dev")


def test_what_is_recorded_is_read_again(file: Path) -> None:
    for moment, report in ((MONDAY, REPORT), (TUESDAY, INCOMPLETE), (WEDNESDAY, CLEAN)):
        written = record_scan(file, moment, report)
    read = read_history(file)
    assert [each.observed_at for each in read.observations] == [MONDAY, TUESDAY, WEDNESDAY]
    assert [each.report.is_complete for each in read.observations] == [True, False, True]
    assert [len(each.report.findings) for each in read.observations] == [6, 6, 0]
    assert read.observations[0].report.objects_checked == 57
    assert len(written.observations) == 3
    assert read.damaged_lines == ()


def test_nothing_was_recorded_yet(file: Path) -> None:
    assert read_history(file).observations == ()


def test_a_scan_that_says_what_an_earlier_one_said_costs_a_short_line(file: Path) -> None:
    for moment in (MONDAY, TUESDAY, WEDNESDAY):
        record_scan(file, moment, REPORT)
    first, second, third = file.read_text().splitlines()
    assert "report" in json.loads(first)
    assert len(second) < 150
    assert len(third) < 150
    assert len(read_history(file).observations[2].report.findings) == 6


def test_only_the_user_may_read_it(file: Path) -> None:
    record_scan(file, MONDAY, REPORT)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_earlier_lines_are_never_touched(file: Path) -> None:
    record_scan(file, MONDAY, REPORT)
    before = file.read_bytes()
    record_scan(file, TUESDAY, CLEAN)
    assert file.read_bytes().startswith(before)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_line_torn_by_a_crash_spoils_no_other(file: Path, kept: float) -> None:
    record_scan(file, MONDAY, CLEAN)
    whole = file.read_bytes()
    record_scan(file, TUESDAY, REPORT)
    torn = file.read_bytes()[len(whole) :]
    file.write_bytes(whole + torn[: int(len(torn) * kept)])
    assert len(read_history(file).observations) == 1
    record_scan(file, WEDNESDAY, REPORT)
    read = read_history(file)
    assert [each.observed_at for each in read.observations] == [MONDAY, WEDNESDAY]
    assert read.damaged_lines == (2,)
    assert len(read.observations[1].report.findings) == 6


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"no json", id="no JSON"),
        pytest.param(b'{"schemaVersion":"v9","observedAt":"x","digest":"y"}', id="version"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param(
            b'{"schemaVersion":"holdfast.dev/drift-history/v1",'
            b'"observedAt":"2026-11-16T09:00:00Z","digest":"lost"}',
            id="refers to a lost one",
        ),
        pytest.param(
            b'{"schemaVersion":"holdfast.dev/drift-history/v1",'
            b'"observedAt":"yesterday","digest":"x"}',
            id="no time",
        ),
    ],
)
def test_a_foreign_line_is_passed_over_and_told(file: Path, line: bytes) -> None:
    record_scan(file, MONDAY, REPORT)
    with file.open("ab") as journal:
        journal.write(line + b"\n")
    record_scan(file, TUESDAY, REPORT)
    read = read_history(file)
    assert len(read.observations) == 2
    assert read.damaged_lines == (2,)


def _scan_often(file: str, who: int) -> None:
    for number in range(20):
        report = REPORT if (who + number) % 2 else CLEAN
        record_scan(Path(file), f"2026-11-16T09:{number:02}:{who:02}Z", report)


def test_scans_at_the_same_time_lose_nothing(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_scan_often, args=(str(file), who)) for who in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    read = read_history(file)
    assert len(read.observations) == 80
    assert read.damaged_lines == ()
    assert sum("report" in json.loads(line) for line in file.read_text().splitlines()) == 2


def test_a_history_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "history.jsonl"
    folder.mkdir()
    with pytest.raises(JournalError, match=r"Is a directory; name another file with --history"):
        record_scan(folder, MONDAY, DriftReport())


def test_masks_stay_masks(file: Path) -> None:
    secret = replace(REPORT.findings[1], desired=MASK, live=MASK_CHANGED)
    record_scan(file, MONDAY, DriftReport((secret,)))
    (finding,) = read_history(file).observations[0].report.findings
    assert (finding.desired, finding.live) == (MASK, MASK_CHANGED)
