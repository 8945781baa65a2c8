"""Turns of findings and causes, as a watch has them."""

from dataclasses import replace
from datetime import UTC, datetime

from holdfast.drift.cause.causes import CauseEvent, source_of
from holdfast.drift.finding import Actor, DriftClass, EvidenceSource, Finding, Severity
from holdfast.drift.record.ledger import FindingEvent, Timestamp, Transition
from holdfast.drift.record.watch_report import Evaluation
from holdfast.kube.objects import ObjectRef

REF = ObjectRef("cx", "Deployment", "support", "apps/v1")


def at(seconds: float) -> Timestamp:
    return Timestamp(seconds, datetime(2026, 11, 21, 10, 0, int(seconds), tzinfo=UTC))


def event(
    turn: Transition = Transition.OPENED, live: str = "x:hotfix", until: float = 0
) -> FindingEvent:
    alice = Actor(
        "kubectl-set", "Update", "", "2026-11-21T10:00:00Z", "alice", EvidenceSource.AUDIT
    )
    finding = Finding(
        REF, "support", DriftClass.CHANGED, ("spec", "replicas"), 2, live, Severity.HIGH,
        policies=("image-digest-pinned",), actors=(alice,),
    )  # fmt: skip
    return FindingEvent(turn, finding, at(0), at(until))


def look(*events: FindingEvent) -> Evaluation:
    return Evaluation("ab-1", REF, at(0), 3, at(0.1), at(0.2), events)


def cause(turn: Transition, names: str, until: float = 0) -> CauseEvent:
    of_turn = Transition.CLOSED if turn is Transition.CLOSED else Transition.OPENED
    events = tuple(
        replace(each, finding=replace(each.finding, ref=replace(REF, name=name)))
        for name in names
        for each in [event(of_turn, until=until)]
    )
    hand = source_of(events[0].finding)
    assert hand is not None
    objects = 0 if turn is Transition.CLOSED else len(names)
    return CauseEvent(turn, hand, events, objects, at(0), at(until))
