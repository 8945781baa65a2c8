"""What one hand did to many objects is told once while it comes and goes."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from holdfast.drift.cause.causes import CauseEvent, CauseLedger
from holdfast.drift.finding import Actor, DriftClass, Finding, Severity
from holdfast.drift.record.ledger import FindingEvent, Ledger, Timestamp, Transition
from holdfast.kube.objects import ObjectRef
from hypothesis import given
from hypothesis import strategies as st

ALICE, BOB = Actor("kubectl-set", user="alice"), Actor("kubectl-edit", user="bob")


def at(seconds: float) -> Timestamp:
    return Timestamp(seconds, datetime(2026, 11, 21, 10, 0, int(seconds), tzinfo=UTC))


def changed(name: str, actor: Actor = ALICE) -> Finding:
    ref = ObjectRef("cx", "Deployment", name, "apps/v1")
    return Finding(ref, name, DriftClass.CHANGED, ("spec", "replicas"), 1, 2, actors=(actor,))


class Told:
    """A ledger of findings with the causes behind them."""

    def __init__(self) -> None:
        self.findings = Ledger()
        self.causes = CauseLedger()

    def find(self, *found: Finding, gone: Iterable[Finding] = (), seconds: float = 0) -> None:
        for each in found:
            self.causes.note(self.findings.note(each.ref.identity, [each], at(seconds)))
        for each in gone:
            self.causes.note(self.findings.note(each.ref.identity, [], at(seconds)))

    def settle(self, seconds: float = 0) -> tuple[list[FindingEvent], list[CauseEvent]]:
        return self.causes.settle(at(seconds))


def test_one_author_on_many_objects_is_one_turn() -> None:
    told = Told()
    told.find(changed("a"), changed("b"), changed("c", BOB))
    (alone,), (cause,) = told.settle()
    assert alone.finding.ref.name == "c"
    assert (cause.transition, cause.objects, len(cause.events)) == (Transition.OPENED, 2, 2)
    assert "in 2 objects of kind Deployment by alice through kubectl-set" in cause.source.words(2)


def test_it_grows_and_ends_as_one() -> None:
    told = Told()
    told.find(changed("a"))
    assert len(told.settle()[0]) == 1
    told.find(changed("b"))
    assert [each.transition for each in told.settle()[1]] == [Transition.OPENED]
    told.find(changed("c"))
    (grown,) = told.settle()[1]
    assert (grown.transition, grown.objects) == (Transition.CHANGED, 3)
    told.find(gone=[changed("a"), changed("b")])
    (shrunk,) = told.settle()[1]
    assert (shrunk.transition, shrunk.objects) == (Transition.CHANGED, 1)
    told.find(gone=[changed("c")], seconds=4)
    alone, (closed,) = told.settle(4)
    assert (alone, closed.transition, closed.objects, closed.dwell_seconds) == (
        [],
        Transition.CLOSED,
        0,
        4,
    )
    told.find(changed("a"))
    assert told.settle()[1] == []


def test_a_remark_has_no_cause() -> None:
    told = Told()
    told.find(*(replace(changed(name), severity=Severity.INFO) for name in "ab"))
    alone, causes = told.settle()
    assert (len(alone), causes) == (2, [])


def test_a_cause_that_others_have_written_over_is_closed() -> None:
    told = Told()
    told.find(changed("a"), changed("b"))
    told.settle()
    told.find(changed("a", BOB), changed("b", BOB))
    assert {(each.source.user, each.transition) for each in told.settle()[1]} == {
        ("alice", Transition.CLOSED),
        ("bob", Transition.OPENED),
    }


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([ALICE, BOB, None]), st.booleans()),
        max_size=30,
    )
)
def test_every_turn_is_reported_once_and_every_cause_that_opens_closes(
    moves: list[tuple[str, Actor | None, bool]],
) -> None:
    told = Told()
    events: list[FindingEvent] = []
    causes: list[CauseEvent] = []
    noted = 0
    for name, actor, settles in [*moves, *((name, None, True) for name in "abc")]:
        finding = changed(name, actor or ALICE)
        found = [] if actor is None else [finding]
        turns = told.findings.note(finding.ref.identity, found, at(0))
        noted += len(turns)
        told.causes.note(turns)
        if settles:
            alone, more = told.settle()
            events += alone
            causes += more
    assert noted == len(events) + sum(len(each.events) for each in causes)
    turns_of = [each.transition for each in causes]
    assert turns_of.count(Transition.OPENED) == turns_of.count(Transition.CLOSED)
