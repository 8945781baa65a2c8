"""Old scans are thinned out to one a day; what is open stays known since its first scan."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from holdfast.adapters.journal.retention import border, thinned
from holdfast.adapters.journal.scan_journal import index_file, read_book, read_history, record_scan
from holdfast.adapters.journal.scan_lines import ScanReader, lines_of
from holdfast.drift.finding import DriftClass, DriftReport, Finding, NotChecked, Severity
from holdfast.drift.record.finding_history import (
    FindingHistories,
    FindingHistory,
    Observation,
    alerts,
    finding_key,
)
from holdfast.kube.objects import KubeObject, ObjectRef
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.drift.histories import finding_histories

START = datetime(2026, 1, 1, 6, tzinfo=UTC)
SCANS_A_DAY = 4


def finding(name: str) -> Finding:
    ref = ObjectRef("cx", "ConfigMap", name, "v1")
    return Finding(ref, "", DriftClass.CHANGED, ("data", "x"), "a", "b", Severity.LOW)


def report(names: str, *, is_complete: bool = True) -> DriftReport:
    missing = () if is_complete else (NotChecked("Secret in cx", "forbidden"),)
    return DriftReport(tuple(finding(name) for name in names), missing, 3)


def declared(value: str) -> list[KubeObject]:
    about = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    return [{**about, "data": {"a": value}}]


def moment(number: int) -> str:
    return (START + timedelta(hours=24 / SCANS_A_DAY) * number).isoformat()


def recorded(file: Path, days: int) -> list[Observation]:
    """Many days of scans: one finding is always open, one comes and goes, one was there once."""
    made = []
    for number in range(days * SCANS_A_DAY):
        names = "a" + "b" * (number % 8 > 3) + "c" * (number < 3)
        made.append(Observation(moment(number), report(names)))
        record_scan(file, made[-1].observed_at, made[-1].report, declared(str(number // 10)))
    return made


def test_old_scans_are_one_a_day_and_young_ones_are_all_there(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    made = recorded(file, days=100)
    kept = [each.observed_at for each in read_history(file).observations]
    young = [each.observed_at for each in made[-30 * SCANS_A_DAY :]]
    assert kept[-len(young) :] == young
    old = kept[: -38 * SCANS_A_DAY]
    assert [each[:10] for each in old] == sorted({each[:10] for each in old})
    assert old[0] == moment(SCANS_A_DAY - 2)
    assert len(kept) < 62 + 38 * SCANS_A_DAY


def test_what_is_open_is_known_since_its_first_scan(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    made = recorded(file, days=100)
    whole = finding_histories(made)
    expected = {key: each for key, each in whole.items() if finding_key(finding("c")) != key}
    for history in (read_history(file).book, read_book(file)[0]):
        assert history.scans == 400
        assert history.by_key() == expected
    index_file(file).unlink()
    assert read_book(file)[0].by_key() == expected


def test_the_detail_of_a_month_is_as_if_nothing_had_been_thinned_out(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    made = recorded(file, days=100)
    for number in (280, 333, 399):
        history = read_history(file, until=moment(number))
        last = history.observations[-1]
        assert (last.observed_at, last.report) == (moment(number), made[number].report)
        open_then = {
            key: each for key, each in finding_histories(made[: number + 1]).items() if each.is_open
        }
        found = history.book.by_key()
        assert {key: each for key, each in found.items() if each.is_open} == open_then
        assert history.configurations.declared(last.configuration) == tuple(
            declared(str(number // 10))
        )
    raised = [each for each in alerts(made, 2) if each.raised_at >= moment(281)]
    kept = alerts(read_history(file).observations, 2)
    assert [each for each in kept if each.raised_at >= moment(281)] == raised


def test_an_old_moment_is_that_of_the_last_scan_of_a_day(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    recorded(file, days=60)
    history = read_history(file, until="2026-01-10T23:59:00Z")
    assert history.observations[-1].observed_at == "2026-01-10T18:00:00+00:00"
    assert history.configurations.declared(history.observations[-1].configuration)


def test_lines_of_a_later_version_stay_and_torn_ones_go(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    record_scan(file, moment(0), report("a"))
    later = b'{"schemaVersion":"holdfast.dev/journal/scan/v9"}'
    with file.open("ab") as journal:
        journal.write(later + b'\n{"schemaVersion":"holdfast.dev/jour')
    for number in range(1, 60 * SCANS_A_DAY):
        record_scan(file, moment(number), report("a"))
    lines = file.read_bytes().splitlines()
    assert lines.count(later) == 1
    assert not any(line.endswith(b"holdfast.dev/jour") for line in lines)
    (a,) = read_history(file).book.tracks.values()
    assert (a.first_seen, a.count) == (moment(0), 240)


@pytest.mark.parametrize(
    ("since", "now", "expected"),
    [
        pytest.param("", "2026-03-01T12:00:00+00:00", None, id="nothing recorded"),
        pytest.param("2026-01-25T00:00:00Z", "2026-03-01T12:00:00+00:00", None, id="young enough"),
        pytest.param("2026-01-22T00:00:00Z", "2026-03-01T12:00:00+00:00",
                     "2026-01-30T00:00:00+00:00", id="a week over"),
    ],
)  # fmt: skip
def test_it_is_due_once_a_week(since: str, now: str, expected: str | None) -> None:
    before = border(since, datetime.fromisoformat(now))
    assert (before.isoformat() if before else None) == expected


def test_one_scan_that_is_dated_wrongly_thins_out_nothing(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    for number in range(8):
        record_scan(file, moment(number), report("a"))
    record_scan(file, "2036-01-01T00:00:00Z", report("a"))
    record_scan(file, moment(8), report("a"))
    assert len(read_history(file).observations) == 10


SCANS = st.lists(
    st.tuples(
        st.sampled_from(["", "a", "b", "ab"]),
        st.booleans(),
        st.integers(0, 40),
        st.sampled_from("xy"),
    ),
    min_size=1,
    max_size=20,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scans=SCANS, border_hour=st.integers(0, 400), again_hour=st.integers(0, 400))
def test_thinning_changes_nothing_that_is_open(
    tmp_path: Path, scans: list[tuple[str, bool, int, str]], border_hour: int, again_hour: int
) -> None:
    file = tmp_path / "scans.jsonl"
    file.unlink(missing_ok=True)
    at = START
    for names, is_complete, hours, value in scans:
        at += timedelta(hours=hours)
        made = report(names, is_complete=is_complete)
        record_scan(file, at.isoformat(), made, declared(value))
    lines = file.read_bytes().splitlines()
    before = START + timedelta(hours=border_hour)
    once = thinned(list(lines_of(lines)), before).lines
    twice = thinned(list(lines_of(once)), max(before, START + timedelta(hours=again_hour))).lines
    whole, observations = read(lines)
    for texts in (once, twice):
        book, kept = read(texts)
        assert open_ones(book) == open_ones(whole)
        assert (book.scans, book.latest, book.low) == (whole.scans, whole.latest, whole.low)
        remaining = iter(observations)
        assert all(each in remaining for each in kept), "kept scans keep their order"
    young = [each for each in observations if each.observed_at > before.isoformat()]
    assert read(once)[1][len(read(once)[1]) - len(young) :] == young


def read(lines: list[bytes]) -> tuple[FindingHistories, list[Observation]]:
    reader = ScanReader()
    found = [reader.read(line) for line in lines_of(lines)]
    assert not reader.damaged_lines
    observations = [each for each in found if each is not None]
    for each in observations:
        assert reader.configurations.declared(each.configuration) is not None
    return reader.book, [replace(each, configuration="") for each in observations]


def open_ones(book: FindingHistories) -> dict[str, FindingHistory]:
    return {key: each for key, each in book.by_key().items() if each.is_open}
