"""A cluster and a stack that a test plays to the watch's loop, and what the loop told."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from holdfast.adapters.cluster.changes import (
    Change,
    Moved,
    Planned,
    Snapshot,
    WatchedKind,
    WatchScope,
)
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.adapters.cluster.kind_reader import Listing, Unread
from holdfast.controllers.watch.inputs import Activity, WatchedDeclaration
from holdfast.controllers.watch.loop import WatchLoop
from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import DriftClass, Finding, Objects, Severity
from holdfast.drift.record.ledger import Timestamp
from holdfast.drift.record.watch_report import Evaluation, Listener, Status, WatchState
from holdfast.drift.scan import DriftJudge
from holdfast.errors import ClusterError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.structure import builtin_kind

from tests.unit.drift.objects import identity

WAIT_SECONDS = 10.0


def kind_of(one: KubeObject, *, is_declared: bool = True) -> WatchedKind:
    """The watched kind of an object."""
    ref = reference_of(one)
    entry = builtin_kind(ref.api_version, ref.kind)
    return WatchedKind(entry, (ref,), is_declared=is_declared)


def versioned(one: KubeObject, version: str) -> KubeObject:
    """The object in another version."""
    return {**one, "metadata": {**one["metadata"], "resourceVersion": version}}


def nobody(_: Change) -> None:
    """Stands for the loop until it has begun to listen."""


class Stopped:
    """Stands for the watches of a cluster that a test plays."""

    def stop(self) -> None:
        """Nothing runs."""

    def list_next(self) -> None:
        """Nothing is listed."""

    def __len__(self) -> int:
        return 0


class Heard(Listener):
    """What the loop told."""

    def __init__(self) -> None:
        self.turns: list[tuple[str, str]] = []
        self.evaluations: list[Evaluation] = []
        self.states: list[WatchState] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        self.evaluations.append(evaluation)
        self.turns += [
            (str(event.transition), event.finding.ref.name) for event in evaluation.events
        ]

    def status_changed(
        self, state: WatchState, open_findings: Sequence[tuple[Finding, Timestamp]]
    ) -> None:
        before = self.states[-1] if self.states else None
        if before is None or (state.status, state.not_checked) != (
            before.status,
            before.not_checked,
        ):
            self.states.append(state)


@dataclass
class Played:
    """Sources of a loop: a cluster and a stack that a test plays, and what it was told."""

    desired: list[KubeObject]
    beside: tuple[WatchedKind, ...] = ()
    live: dict[Any, KubeObject | None] = field(default_factory=dict)
    now: Activity = field(default_factory=Activity)
    failure: Exception | None = None
    loads: int = 0
    serves: bool = True
    heard: Heard = field(default_factory=Heard)
    tell: Callable[[Change], None] = field(default_factory=lambda: nobody)
    entered: set[Any] = field(default_factory=set)

    def load(self) -> WatchedDeclaration:
        self.loads += 1
        if self.failure is not None:
            raise self.failure
        context = DriftContext(autoscalers=Autoscalers(self.desired))
        kinds = tuple(kind_of(one) for one in self.desired)
        if not self.serves:
            kinds = tuple(replace(kind, entry=None) for kind in kinds)
        return WatchedDeclaration(
            DriftJudge(self.desired, context),
            (*kinds, *self.beside),
            sessions=self.sessions,
            entered=lambda: frozenset(self.entered),
        )

    def sessions(self, objects: Objects) -> Iterator[Finding]:
        for each in self.entered & objects.keys():
            ref = reference_of(objects[each])
            yield Finding(ref, "", DriftClass.ADDED, ("exec",), severity=Severity.INFO)

    def activity(self) -> Activity:
        return self.now

    def watch(
        self,
        kinds: tuple[WatchedKind, ...],
        tell: Callable[[Change], None],
        known: Mapping[Any, str],
    ) -> ClusterWatch:
        self.tell = tell
        for kind in kinds:
            tell(Planned(kind, (place_of(kind),)))
        return cast("ClusterWatch", Stopped())

    def read(self, ref: ObjectRef) -> KubeObject | None:
        answer = self.live[ref.identity]
        if answer is None:
            raise ClusterError("away")
        return answer

    @property
    def turns(self) -> list[tuple[str, str]]:
        return self.heard.turns

    @property
    def evaluations(self) -> list[Evaluation]:
        return self.heard.evaluations

    @property
    def states(self) -> list[WatchState]:
        return self.heard.states

    def show(self, one: KubeObject, *live: KubeObject, unread: str = "") -> None:
        listing = Listing({identity(each): each for each in live})
        if unread:
            listing.unread[identity(one)] = Unread("ConfigMap cx/support", unread)
        self.tell(Snapshot(place_of(kind_of(one)), listing, time.monotonic()))

    def move(self, one: KubeObject, live: KubeObject | None, version: str = "9") -> None:
        place = place_of(kind_of(one))
        self.tell(Moved(place, identity(one), live, version, time.monotonic()))

    def wait(self, is_done: Callable[[], object]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_done():
            assert time.monotonic() < deadline, (self.turns, self.states)
            time.sleep(0.01)

    def wait_for_status(self, status: Status) -> WatchState:
        self.wait(lambda: self.states and self.states[-1].status is status)
        return self.states[-1]


def place_of(kind: WatchedKind) -> WatchScope:
    """Where its objects are watched."""
    return WatchScope(kind, kind.kind, "cx")


@contextmanager
def running(played: Played, interval: float = 600.0) -> Iterator[Played]:
    """The loop, in a thread of its own, until the end of the block."""
    loop = WatchLoop(played, [played.heard], interval)
    thread = threading.Thread(target=loop.run)
    thread.start()
    played.wait(lambda: played.tell is not nobody)
    try:
        yield played
    finally:
        loop.stop()
        thread.join(WAIT_SECONDS)
