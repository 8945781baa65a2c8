from dataclasses import replace
from datetime import UTC, datetime, timedelta

from holdfast.drift.finding import DriftClass, Finding
from holdfast.drift.record.ledger import Ledger, Timestamp, Transition
from holdfast.kube.objects import ObjectRef
from hypothesis import given
from hypothesis import strategies as st

REF = ObjectRef("cx", "ConfigMap", "support", "v1")
KEY = REF.identity
PATHS = [("data", name) for name in "abc"]


def finding(path: tuple[str, ...] = PATHS[0], live: str = "x") -> Finding:
    return Finding(REF, "support", DriftClass.CHANGED, path, "y", live)


def at(seconds: float) -> Timestamp:
    return Timestamp(seconds, datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=seconds))


def turns(ledger: Ledger, *findings: Finding, seconds: float = 0) -> list[tuple[Transition, str]]:
    return [
        (event.transition, str(event.finding.path[-1]))
        for event in ledger.note(KEY, findings, at(seconds))
    ]


def test_a_finding_is_opened_once_and_closed_once_with_its_dwell_time() -> None:
    ledger = Ledger()
    assert turns(ledger, finding()) == [(Transition.OPENED, "a")]
    assert turns(ledger, finding(), seconds=1) == []
    (closed,) = ledger.note(KEY, (), at(2.5))
    assert (closed.transition, closed.dwell_seconds) == (Transition.CLOSED, 2.5)
    assert turns(ledger, seconds=3) == []
    assert list(ledger) == []


def test_another_value_at_the_same_place_is_the_same_finding_changed() -> None:
    ledger = Ledger()
    turns(ledger, finding())
    (event,) = ledger.note(KEY, [finding(live="z")], at(4))
    assert (event.transition, event.finding.live, event.opened) == (Transition.CHANGED, "z", at(0))


def test_objects_are_kept_apart() -> None:
    ledger = Ledger()
    turns(ledger, finding())
    other = replace(REF, name="other")
    ledger.note(other.identity, [replace(finding(), ref=other)], at(1))
    assert ledger.identities == {KEY, other.identity}
    turns(ledger)
    assert ledger.identities == {other.identity}


def test_the_same_findings_are_as_before_whatever_their_values() -> None:
    ledger = Ledger()
    assert ledger.is_as_before(KEY, ())
    turns(ledger, finding())
    assert ledger.is_as_before(KEY, [finding(live="z")])
    assert not ledger.is_as_before(KEY, ())


@given(st.lists(st.sets(st.sampled_from(PATHS)), max_size=12))
def test_opened_and_closed_alternate_and_what_is_open_is_what_was_found_last(
    looks: list[set[tuple[str, str]]],
) -> None:
    ledger = Ledger()
    is_open = dict.fromkeys(PATHS, False)
    for number, paths in enumerate(looks):
        for event in ledger.note(KEY, [finding(path) for path in sorted(paths)], at(number)):
            assert event.transition is not Transition.CHANGED
            assert is_open[event.finding.path] == (event.transition is Transition.CLOSED)  # type: ignore[index]  # paths of names
            is_open[event.finding.path] = event.transition is Transition.OPENED  # type: ignore[index]
            assert event.dwell_seconds >= 0
        assert {each.path for each, _ in ledger} == paths
        assert ledger.counting == len(paths)
