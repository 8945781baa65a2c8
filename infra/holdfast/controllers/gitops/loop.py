"""What surrounds a reconciler: triggers beside commits, and those who report its state. Wiring."""

import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from holdfast.adapters.cluster.changes import (
    Change,
    Moved,
    Planned,
    Snapshot,
    WatchedKind,
    WatchLost,
)
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.adapters.cluster.kind_reader import ListOptions
from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.adapters.cluster.reflector import WatchConfig
from holdfast.controllers.gitops import roles
from holdfast.controllers.gitops.loop_actor import LoopActor
from holdfast.controllers.gitops.loop_conditions import LoopConditions
from holdfast.controllers.gitops.loop_events import EventRecord, LoopEvents
from holdfast.controllers.gitops.loop_messages import LoopMessages
from holdfast.controllers.gitops.loop_state import LoopState
from holdfast.controllers.gitops.reconciler import COMMIT, DRIFT
from holdfast.controllers.gitops.stack_report import HeldStack, StackReport
from holdfast.controllers.runtime.event_loop import EventLoop
from holdfast.controllers.runtime.log import Log, LogProgress
from holdfast.controllers.runtime.metric_watch import MetricWatch
from holdfast.controllers.runtime.node_health import NODE, NodeHealth, trigger_of, watched_nodes
from holdfast.controllers.runtime.supervisor import Supervisor
from holdfast.controllers.watch.drift_watch import WatchSources
from holdfast.controllers.watch.inputs import WatchedDeclaration
from holdfast.controllers.watch.loop import WatchLoop
from holdfast.drift.record.ledger import Transition
from holdfast.drift.record.watch_report import Evaluation, Listener
from holdfast.drift.unmanaged import stack_selector
from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.marks import agent_of
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.stack.agent_stack import Suspension, agent_stack_ref, control_of
from holdfast.operations.stack.context import StackContext

_SILENCE_SECONDS = 150.0
_INTERVAL_SECONDS = 600.0

Ask = Callable[[str, str], None]
"""Takes a key of the loop, and why it is asked for."""


@dataclass
class LoopWatchSources(WatchSources):
    """A declaration from a working tree of its own: the loop checks out other commits meanwhile."""

    actor: LoopActor | None = None

    def load(self) -> WatchedDeclaration:
        """Check out the commit that runs, then read it."""
        assert self.actor is not None  # noqa: S101  (as it is made)
        self.request = replace(self.request, root=self.actor.check_out_for_watch())
        return super().load()


class DriftTrigger(Listener):
    """Asks for each agent that a finding opens on."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def evaluated(self, evaluation: Evaluation) -> None:
        """One object was judged."""
        for event in evaluation.events:
            if event.transition is not Transition.CLOSED and event.finding.agent:
                self._ask(event.finding.agent, f"{event.finding.ref} {event.transition.value}")


def start_triggers(actor: LoopActor, ask: Ask, log: Log, supervisor: Supervisor) -> None:
    """Watch the cluster and the metrics of a stack; the resync goes on beside that."""

    def watch_drift(_: threading.Event) -> None:
        request = ScanRequest(actor.check_out_for_watch(), actor.stack)
        sources = LoopWatchSources(request, _SILENCE_SECONDS, LogProgress(log), actor)
        WatchLoop(sources, [DriftTrigger(ask)], _INTERVAL_SECONDS).run()

    def settings() -> Environment | None:
        return actor.context().environment

    def note_unread(metric: str, problem: str) -> None:
        log("watch", kind="metric", metric=metric, error=problem)

    metrics = MetricWatch(settings, lambda trigger: ask(DRIFT, trigger), note_unread)
    supervisor.start("drift", watch_drift)
    supervisor.start("cluster", ClusterTrigger(actor, ask, log).run)
    supervisor.start("metrics", metrics.run)


class ClusterTrigger:
    """Asks when the stack is suspended or resumed, and for the agents on a node that turns."""

    def __init__(self, actor: LoopActor, ask: Ask, log: Log) -> None:
        self._actor, self._ask, self._log = actor, ask, log
        self._nodes = NodeHealth()
        self._suspension: Suspension | None = None
        self._reasons: dict[str, str] = {}

    def run(self, _: threading.Event) -> None:
        """Watch until the process ends.

        Raises:
            HoldfastError: the cluster is not to be found.
        """
        client = self._client = self._actor.connect()
        loop: EventLoop[Change] = EventLoop(self._take)
        watch = ClusterWatch(WatchConfig(client, loop.post, {}))
        ref = agent_stack_ref(self._actor.stack)
        # Without an entry: a definition that is installed later is noticed.
        watch.follow([watched_nodes(), WatchedKind(None, (ref,), ListOptions(name=ref.name))])
        try:
            loop.run()
        finally:
            watch.stop()

    def _take(self, change: Change) -> None:
        if isinstance(change, Planned):
            return
        kind = change.place.kind.kind
        if isinstance(change, WatchLost):
            if change.reason != self._reasons.get(kind):
                self._reasons[kind] = change.reason
                self._log("watch", kind=kind, error=change.reason)
        elif kind == NODE[1]:
            for turn in self._nodes.take(change):
                for agent in self._agents_on(turn[0]):
                    self._ask(agent, trigger_of(turn))
        elif isinstance(change, Snapshot):
            for live in change.listing.objects.values():
                self._take_stack(live)
        elif isinstance(change, Moved):
            self._take_stack(change.live or {})

    def _take_stack(self, live: KubeObject) -> None:
        before, self._suspension = self._suspension, control_of(live).suspension
        if self._suspension != before:
            for key in (COMMIT, DRIFT):
                self._ask(key, str(self._suspension or "resumed"))

    def _agents_on(self, node: str) -> list[str]:
        selector = stack_selector(self._actor.stack.rpartition("/")[2])
        pods = list_whole(self._client, "v1", "pods", "", selector)
        found = {agent_of(pod) for pod in pods if mapping_at(pod, "spec").get("nodeName") == node}
        return sorted(found - {""})


def stack_login(context: StackContext) -> Callable[[], Connection]:
    """Logs in to the cluster of a stack."""

    def log_in() -> Connection:
        return connection_of(context.kubeconfig, context.kube_context)

    return log_in


@dataclass(frozen=True)
class LoopReport:
    """Everything that listens to a loop's reconciler."""

    conditions: LoopConditions
    state: LoopState
    events: LoopEvents
    stack: StackReport
    messages: LoopMessages

    @classmethod
    def of(cls, stack: str, actor: LoopActor, log: Log, messages: LoopMessages) -> "LoopReport":
        """What reports the state of a stack."""
        tracked = actor.tracked
        conditions = LoopConditions()
        held = HeldStack(stack, tracked.place, tracked.branch, actor.path, socket.gethostname())

        report = StackReport(held, conditions, actor.connect, log)

        def record(event: EventRecord) -> None:
            report.record(event)
            messages.record(event)

        state = LoopState(stack, conditions)
        return cls(conditions, state, LoopEvents(record), report, messages)

    @property
    def listeners(self) -> Sequence[roles.LoopListener]:
        """In the order in which they are called: what others read comes first."""
        return (self.conditions, self.state, self.events, self.stack)

    def leads(self, is_leader: bool) -> None:
        """Take whether this loop is the one that acts."""
        self.state.leads(is_leader)
        self.stack.leads(is_leader)

    def end(self) -> None:
        """Report that the loop has ended; while the lease is still held."""
        self.stack.end()
        self.messages.end()
