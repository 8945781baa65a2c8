"""The journal of scans: safe against crashes and against each other, at a cost that stays."""

import json
import multiprocessing
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from holdfast.adapters.journal.journal import JournalError, JournalKind, journal_file
from holdfast.adapters.journal.scan_journal import index_file, read_book, read_history, record_scan
from holdfast.drift.finding import DriftReport, ExpectedBy
from holdfast.drift.masking import MASK, MASK_CHANGED
from holdfast.drift.record.finding_history import finding_key

from tests.unit.report.reports import CLEAN, INCOMPLETE, REPORT

MONDAY, TUESDAY, WEDNESDAY = (f"2026-11-{day}T09:00:00Z" for day in (16, 17, 18))

START = datetime(2026, 11, 16, 9, tzinfo=UTC)
WRITTEN_BEFORE = Path(__file__).parent / "written_before"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return journal_file(tmp_path / "state", "holdfast", "dev", JournalKind.SCANS)


def test_what_is_recorded_is_read_again(file: Path) -> None:
    for moment, report in ((MONDAY, REPORT), (TUESDAY, INCOMPLETE), (WEDNESDAY, CLEAN)):
        written = record_scan(file, moment, report)
    read = read_history(file)
    assert [each.observed_at for each in read.observations] == [MONDAY, TUESDAY, WEDNESDAY]
    assert [each.report.is_complete for each in read.observations] == [True, False, True]
    assert [len(each.report.findings) for each in read.observations] == [6, 6, 0]
    assert read.observations[0].report.objects_checked == 57
    assert written.histories == read.book.by_key()
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
            b'{"schemaVersion":"holdfast.dev/journal/scan/v1",'
            b'"observedAt":"2026-11-16T09:00:00Z","digest":"lost"}',
            id="refers to a lost one",
        ),
        pytest.param(
            b'{"schemaVersion":"holdfast.dev/journal/scan/v1",'
            b'"observedAt":"yesterday","digest":"x"}',
            id="no time",
        ),
    ],
)
def test_a_foreign_line_is_passed_over_and_reported(file: Path, line: bytes) -> None:
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


def test_a_journal_that_earlier_versions_wrote_is_read_and_continued(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    shutil.copy(WRITTEN_BEFORE / "scans.jsonl", file)
    read = read_history(file)
    assert read.damaged_lines == ()
    assert [len(each.report.findings) for each in read.observations] == [6, 6, 1, 6, 0]
    assert [each.report.is_complete for each in read.observations] == [
        True,
        True,
        True,
        False,
        True,
    ]
    assert [each.name for each in read.observations[2].report.layers] == ["holdfast", "pulumi"]
    assert read.observations[2].report.findings[0].expected_by is ExpectedBy.RECORD
    assert read.observations[0].report.findings[4].actors == REPORT.findings[4].actors
    names = [read.configurations.declared(each.configuration) for each in read.observations]
    assert [None if one is None else len(one) for one in names] == [1, 2, 2, None, 1]

    scan = record_scan(file, "2026-11-21T09:00:00Z", REPORT)
    image = scan.histories[finding_key(REPORT.findings[3])]
    assert (image.first_seen, image.count) == (MONDAY, 5)
    assert len(read_history(file).observations) == 6


def test_a_new_line_is_distinguished_from_a_report(file: Path) -> None:
    record_scan(file, MONDAY, REPORT)
    (line,) = map(json.loads, file.read_text().splitlines())
    assert line["schemaVersion"] == "holdfast.dev/journal/scan/v1"
    assert "schemaVersion" not in line["report"]


def test_until_a_moment_is_as_it_was_then(file: Path) -> None:
    for moment, report in ((MONDAY, REPORT), (TUESDAY, CLEAN), (WEDNESDAY, REPORT)):
        record_scan(file, moment, report)
    read = read_history(file, until=TUESDAY)
    assert [each.observed_at for each in read.observations] == [MONDAY, TUESDAY]
    assert not any(each.is_open for each in read.book.by_key().values())


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda index: index.unlink(), id="gone"),
        pytest.param(lambda index: index.write_text("{"), id="torn"),
        pytest.param(lambda index: index.write_text('{"schemaVersion":"v9"}'), id="foreign"),
        pytest.param(lambda index: index.write_bytes(b"\xff"), id="no text"),
    ],
)
def test_an_index_that_is_lost_is_made_from_the_journal(
    file: Path, damage: Callable[[Path], object]
) -> None:
    for moment in (MONDAY, TUESDAY):
        record_scan(file, moment, REPORT)
    damage(index_file(file))
    book, _ = read_book(file)
    assert {each.count for each in book.tracks.values()} == {2}
    scan = record_scan(file, WEDNESDAY, REPORT)
    assert {each.count for each in scan.histories.values()} == {3}
    assert sum("report" in json.loads(line) for line in file.read_text().splitlines()) == 1


def test_the_index_of_another_content_is_not_believed(file: Path) -> None:
    record_scan(file, MONDAY, REPORT)
    first = file.read_bytes()
    record_scan(file, TUESDAY, CLEAN)
    file.write_bytes(first)
    scan = record_scan(file, WEDNESDAY, REPORT)
    assert {(each.count, each.is_open) for each in scan.histories.values()} == {(2, True)}


def test_what_cannot_keep_an_index_is_recorded_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    index_file(file).mkdir()
    for moment in (MONDAY, TUESDAY):
        scan = record_scan(file, moment, REPORT)
    assert {each.count for each in scan.histories.values()} == {2}


def bytes_read_by(act: Callable[[], object]) -> int:
    """How much this process reads, of whatever file."""
    counters = Path("/proc/self/io")
    before = counters.read_text()
    act()
    after = counters.read_text()
    first, last = (int(text.split("rchar: ")[1].split()[0]) for text in (before, after))
    return last - first - len(before)


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the kernel counts no reads")
def test_recording_a_scan_reads_as_much_after_many_as_after_few(file: Path) -> None:
    def scan(number: int) -> None:
        moment = START + timedelta(minutes=5 * number)
        record_scan(file, moment.isoformat(), REPORT if number % 3 else INCOMPLETE)

    for number in range(20):
        scan(number)
    after_few = bytes_read_by(lambda: scan(20))
    for number in range(21, 800):
        scan(number)
    assert file.stat().st_size > 10 * after_few
    assert bytes_read_by(lambda: scan(800)) < after_few + 1000
