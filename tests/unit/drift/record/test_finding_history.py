"""Since when, how often, how many at once: order is that of the scans, not of their clocks."""

from dataclasses import replace

import pytest
from holdfast.drift.finding import (
    PROBES,
    DriftClass,
    DriftReport,
    Finding,
    Layer,
    NotChecked,
    Severity,
)
from holdfast.drift.record.finding_history import (
    Observation,
    alerts,
    finding_key,
    in_order,
    short_duration,
)
from holdfast.kube.objects import ObjectRef
from holdfast.kube.scalars import parse_timestamp
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.drift.histories import finding_histories

UNKNOWN = (NotChecked("Secret in cx", "forbidden"),)


def low(name: str, live: str = "x") -> Finding:
    ref = ObjectRef("cx", "ConfigMap", name, "v1")
    return Finding(ref, "", DriftClass.ADDED, ("metadata", "labels", "x"), None, live, Severity.LOW)


def scan(at: str, *names: str, complete: bool = True) -> Observation:
    unknown = () if complete else UNKNOWN
    return Observation(at, DriftReport(tuple(low(name) for name in names), unknown, 3))


MONDAY, TUESDAY, WEDNESDAY, THURSDAY = (f"2026-11-{day}T09:00:00Z" for day in (16, 17, 18, 19))


def test_three_scans_over_two_days_give_first_seen_count_and_age() -> None:
    known = finding_histories(
        [scan(MONDAY, "a"), scan(TUESDAY, "a", "b"), scan(WEDNESDAY, "a", "b")]
    )
    a, b = known[finding_key(low("a"))], known[finding_key(low("b"))]
    assert (a.first_seen, a.last_seen, a.count, a.age) == (MONDAY, WEDNESDAY, 3, "2d")
    assert (b.first_seen, b.last_seen, b.count, b.age) == (TUESDAY, WEDNESDAY, 2, "1d")
    assert str(a) == f"since {MONDAY}, 2d, 3 times"


def test_what_comes_back_begins_a_new_spell_and_keeps_its_first_time() -> None:
    known = finding_histories([scan(MONDAY, "a"), scan(TUESDAY), scan(WEDNESDAY, "a")])
    a = known[finding_key(low("a"))]
    assert (a.first_seen, a.since, a.count, a.age_seconds) == (MONDAY, WEDNESDAY, 2, 0)
    assert str(a) == f"since {WEDNESDAY}, 0s, 2 times (first ever {MONDAY})"


def test_what_is_gone_is_closed_and_grows_no_older() -> None:
    a = finding_histories([scan(MONDAY, "a"), scan(TUESDAY, "a"), scan(THURSDAY)])[
        finding_key(low("a"))
    ]
    assert not a.is_open
    assert a.age == "1d"


def test_an_incomplete_scan_closes_nothing() -> None:
    a = finding_histories([scan(MONDAY, "a"), scan(TUESDAY, complete=False)])[finding_key(low("a"))]
    assert a.is_open
    assert a.age == "1d"


def test_another_value_in_the_same_field_is_the_same_finding() -> None:
    changed = DriftReport((low("a", "y"),), (), 3)
    known = finding_histories([scan(MONDAY, "a"), Observation(TUESDAY, changed)])
    (a,) = known.values()
    assert (a.count, a.finding.live) == (2, "y")


def test_a_clock_that_goes_back_makes_nothing_younger_than_nothing() -> None:
    known = finding_histories([scan(TUESDAY, "a"), scan(MONDAY, "a"), scan(MONDAY, "a", "b")])
    a, b = known[finding_key(low("a"))], known[finding_key(low("b"))]
    assert (a.first_seen, a.count, a.age_seconds) == (TUESDAY, 3, 0)
    assert b.first_seen == TUESDAY


class TestAlerts:
    def test_five_low_findings_raise_one_alert(self) -> None:
        scans = [
            scan(MONDAY, *"ab"),
            scan(TUESDAY, *"abcde"),
            scan(WEDNESDAY, *"abcdef"),
            scan(THURSDAY, *"abcdefg"),
        ]
        (alert,) = alerts(scans, 5)
        assert alert.raised_at == TUESDAY
        assert len(alert.findings) == 5

    def test_a_second_one_needs_fewer_in_between(self) -> None:
        scans = [scan(MONDAY, *"abc"), scan(TUESDAY, "a"), scan(WEDNESDAY, *"abc")]
        assert [each.raised_at for each in alerts(scans, 3)] == [MONDAY, WEDNESDAY]

    def test_what_is_worse_than_low_does_not_wait_for_company(self) -> None:
        grave = tuple(replace(low(name), severity=Severity.HIGH) for name in "abcde")
        assert alerts([Observation(MONDAY, DriftReport(grave))], 5) == []

    def test_an_incomplete_scan_ends_no_alert(self) -> None:
        scans = [scan(MONDAY, *"abc"), scan(TUESDAY, complete=False), scan(WEDNESDAY, *"abc")]
        assert len(alerts(scans, 3)) == 1


NAMES = st.lists(st.sampled_from("abcd"), unique=True)
SCANS = st.lists(
    st.builds(
        lambda names, hour, complete: scan(
            f"2026-11-16T{hour:02}:00:00Z", *names, complete=complete
        ),
        NAMES,
        st.integers(0, 23),
        st.booleans(),
    ),
    min_size=1,
)


@given(SCANS)
def test_counts_are_those_of_the_scans_that_reported(scans: list[Observation]) -> None:
    for key, each in finding_histories(scans).items():
        reported = [one for one in in_order(scans) if key in map(finding_key, one.report.findings)]
        assert each.count == len(reported)
        assert (each.first_seen, each.last_seen) == (
            reported[0].observed_at,
            reported[-1].observed_at,
        )
        times = [parse_timestamp(at) for at in (each.first_seen, each.since, each.last_seen)]
        assert times == sorted(times)
        assert each.age_seconds >= 0


@given(SCANS, st.integers(1, 4))
def test_two_alerts_have_a_quieter_scan_between_them(
    scans: list[Observation], threshold: int
) -> None:
    raised = alerts(scans, threshold)
    quiet = sum(
        1 for one in scans if one.report.is_complete and len(one.report.findings) < threshold
    )
    assert len(raised) <= quiet + 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59, "59s"), (61, "1m1s"), (3600, "1h"), (90_061, "1d1h"), (172_800, "2d")],
)
def test_a_duration_is_reported_in_two_units(seconds: int, text: str) -> None:
    assert short_duration(seconds) == text


def test_what_a_probe_found_stays_open_until_probes_are_asked_again() -> None:
    finding = replace(low("a"), path=(PROBES, "image"))
    asked = (Layer(PROBES, has_run=True, detail=""),)
    first = Observation(MONDAY, DriftReport((finding,), layers=asked))
    quiet = Observation(TUESDAY, DriftReport())
    assert finding_histories([first, quiet])[finding_key(finding)].is_open
    gone = Observation(WEDNESDAY, DriftReport(layers=asked))
    assert not finding_histories([first, quiet, gone])[finding_key(finding)].is_open
