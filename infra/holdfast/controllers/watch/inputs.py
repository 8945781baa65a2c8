"""What a watch holds a cluster to, and where all of that comes from."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from holdfast.adapters.cluster.changes import Change, WatchedKind
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.drift.cause.attribution import with_sessions
from holdfast.drift.finding import DriftReport, Finding, NotChecked, Objects
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.objects import Identity, KubeObject, ObjectRef


@dataclass(frozen=True)
class Activity:
    """What a stack is up to.

    Attributes:
        newest_change: Name of its newest recorded change; another name means that it was updated.
        is_under_way: A change is under way now: what moves is meant to move.
    """

    newest_change: str = ""
    is_under_way: bool = False


@dataclass
class WatchedDeclaration:
    """One declaration, and what judging by it needs.

    Attributes:
        kinds: What to watch.
        beside: Group and kind of what is watched although none is declared.
        in_flight: Objects that an interrupted update left: they cannot be judged.
        not_checked: What else is not known, and why, for as long as the declaration stands.
        finish: What is done with every report of the judge; as in a single scan.
        sessions: Who entered which of some pods, as the audit log says.
        entered: Pods that were entered since the last call.
    """

    judge: DriftJudge
    kinds: tuple[WatchedKind, ...]
    beside: frozenset[tuple[str, str]] = frozenset()
    in_flight: Mapping[Identity, NotChecked] = field(default_factory=dict)
    not_checked: tuple[NotChecked, ...] = ()
    finish: Callable[[DriftReport, frozenset[Identity]], DriftReport] = lambda report, _: report
    sessions: Callable[[Objects], Iterable[Finding]] = lambda _: ()
    entered: Callable[[], frozenset[Identity]] = frozenset

    def report(
        self, objects: Objects, unread: Mapping[Identity, NotChecked], only: frozenset[Identity]
    ) -> DriftReport:
        """Judge some objects as they are now."""
        live = LiveState(objects, {**unread, **self.in_flight}, watched=self.beside)
        report = self.finish(self.judge.report(live, only), only)
        entered = (each for each in self.sessions(objects) if each.ref.identity in only)
        return with_sessions(report, entered)


class WatchInputs(Protocol):
    """Where a watch gets everything from."""

    def load(self) -> WatchedDeclaration:
        """Read the declaration.

        Raises:
            HoldfastError: it cannot be read, or the discovery of the cluster fails.
        """

    def activity(self) -> Activity:
        """What the stack is up to; cheap, for it is asked before every evaluation."""

    def watch(
        self,
        kinds: tuple[WatchedKind, ...],
        emit: Callable[[Change], None],
        known: Mapping[Identity, str],
    ) -> ClusterWatch:
        """Begin to watch kinds."""

    def read(self, ref: ObjectRef) -> KubeObject | None:
        """One live object; None when there is none.

        Raises:
            ClusterError: it could not be read.
        """
