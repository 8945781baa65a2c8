"""The operator's loop: events in, a short wait, then one agent is reconciled. Keyed by agent.

One thread takes events and decides when; several agents are reconciled beside one another, each by
one worker at a time. Nothing here renders, compares or judges: it calls those that do.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.adapters.cluster.api_error import fault_text
from holdfast.adapters.cluster.changes import Change, Planned, WatchLost
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.reflector import SILENCE_SECONDS, WatchConfig
from holdfast.adapters.tracing.spans import UNTRACED, Tracer
from holdfast.controllers.operator.agent_reconciler import AgentReconciler
from holdfast.controllers.operator.agent_store import OWN_GROUP, AgentStore, agent_place
from holdfast.controllers.operator.declaration import VerdictsFor
from holdfast.controllers.operator.desired_state import DesiredStateCache
from holdfast.controllers.operator.informers import InformerSet
from holdfast.controllers.operator.metrics import OperatorMetrics
from holdfast.controllers.operator.teams import write_team_statuses
from holdfast.controllers.runtime.event_loop import EventLoop
from holdfast.controllers.runtime.log import Log, Runs
from holdfast.controllers.runtime.metric_watch import MetricWatch
from holdfast.controllers.runtime.node_health import NODE, NodeHealth, trigger_of
from holdfast.controllers.runtime.process import wait_for_api_server
from holdfast.controllers.runtime.queue import KeyedQueue
from holdfast.controllers.runtime.supervisor import Supervisor
from holdfast.controllers.runtime.workers import WorkerPool, WorkOutcome, WorkResult
from holdfast.drift.record.watch_report import Status, WatchState
from holdfast.errors import HoldfastError
from holdfast.kube.objects import Identity, KubeObject, NamespacedName
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.stack.environment import Environment

WORKERS: Final = 8
"""As many as there are connections: more would wait for one another."""

QUIET_SECONDS: Final = 0.1
"""A change waits for the next one: what one client writes at once is reconciled once."""

LONGEST_WAIT_SECONDS: Final = 1.2
"""However many changes there are: reconciling is not put off for longer."""

LEAST_SECONDS: Final = 0.5
"""Between two times at which one agent is reconciled."""

RESYNC_JITTER: Final = 0.1
STUCK_SECONDS: Final = 60.0
SUSPICION_SECONDS: Final = 60.0
"""After a change that could not be taken everything is read again, no more often than that."""

STATUS_SECONDS: Final = 1.0


@dataclass(frozen=True)
class LoopSettings:
    """How to go round.

    Attributes:
        stack: Whose agents.
        resync_seconds: Every agent is compared again that often from what the watch knows.
        instance: Who this is, in Events.
        silence_seconds: A stream that says nothing for so long counts as dead.
    """

    stack: str
    resync_seconds: float
    instance: str
    silence_seconds: float = SILENCE_SECONDS


@dataclass(frozen=True)
class Asked:
    """Every agent is to be reconciled."""

    trigger: str


class AgentLoop:
    """Holds agents to what their resources declare until it is stopped."""

    def __init__(
        self,
        settings: LoopSettings,
        client: ApiClient,
        verdicts_for: VerdictsFor,
        metrics: OperatorMetrics,
        log: Log,
        tracer: Tracer = UNTRACED,
    ) -> None:
        self._settings = settings
        self._client, self._metrics = client, metrics
        self._log = log
        self._supervisor = Supervisor(log)
        self._loop: EventLoop[Change | Asked | WorkResult[NamespacedName]] = EventLoop(
            self._take_message, self._turn
        )
        self._store = AgentStore()
        self._nodes = NodeHealth()
        self._informers = InformerSet(client, settings.stack)
        waiting: KeyedQueue[NamespacedName] = KeyedQueue(
            LEAST_SECONDS, QUIET_SECONDS, LONGEST_WAIT_SECONDS
        )
        self._pool = WorkerPool(self._reconcile, waiting, self._loop.post, WORKERS)
        self._desired = DesiredStateCache(
            settings.stack, self._store, self._informers, verdicts_for, log
        )
        self._next_suspicion = 0.0
        kinds, runs = self._informers.kinds, Runs(log, tracer, stack=settings.stack)
        self._reconciler = AgentReconciler(
            client,
            kinds,
            self._store,
            settings.instance,
            metrics,
            runs,
        )

    def stop(self) -> None:
        """End the loop in order; from any thread, and from a signal handler."""
        self._client.stop_waiting()
        self._loop.stop()

    @property
    def dead(self) -> str:
        """Why the loop counts as dead; empty while it goes round."""
        seconds = self._loop.seconds_since_turn
        if seconds > STUCK_SECONDS:
            return f"the loop has stood for {seconds:.0f} s"
        return self._supervisor.problem

    @property
    def unready(self) -> str:
        """Why nothing can be said of the agents yet; empty when everything was read."""
        if self._desired.problem:
            return self._desired.problem
        if self._desired.current is None:
            return "not everything has been read yet"
        return "; ".join(f"{kind}: {why}" for kind, why in sorted(self._store.blind.items()))

    def run(self) -> bool:
        """Go round until stopped, then drain.

        Returns:
            Whether all work has ended; what was abandoned at the deadline writes nothing more.

        Raises:
            ClusterError: the cluster does not serve the kinds, or forbids to ask.
        """
        silence = self._settings.silence_seconds
        shared = WatchConfig(self._client, self._loop.post, self._store.versions, silence)
        if not wait_for_api_server(
            lambda: self._informers.begin(shared), self._loop.rest, self._unanswered
        ):
            return True
        metrics = MetricWatch(self._environment, self._ask_all, self._unread_metric)
        self._supervisor.start("metrics", metrics.run)
        self._loop.every(
            lambda: self._settings.resync_seconds,
            lambda: self._pool.ask(self._store.agents(), "resync"),
            jitter=RESYNC_JITTER,
        )
        self._loop.every(lambda: STATUS_SECONDS, self._report_state, at_once=True)
        try:
            self._loop.run()
        finally:
            is_drained = self._pool.drain()
            if not is_drained:
                self._client.refuse_writes("the process is stopping")
                self._log("stop", level="warning", problem="work was abandoned at the deadline")
            self._supervisor.stop()
            self._informers.stop()
        return is_drained

    def _unanswered(self, reason: str) -> None:
        self._log("wait", level="warning", reason=reason)

    def _environment(self) -> Environment | None:
        current = self._desired.current
        return current.settings.environment if current else None

    def _ask_all(self, trigger: str) -> None:
        """Ask for every agent; from any thread."""
        self._loop.post(Asked(trigger))

    def _unread_metric(self, name: str, problem: str) -> None:
        self._log("watch", level="warning", metric=name, reason=problem)

    def _turn(self) -> float | None:
        self._pool.ask(self._desired.renew(), "declaration changed")
        if self._desired.current is None:
            return None
        self._pool.begin_due()
        return self._pool.seconds_until_due()

    def _take_message(self, message: Change | Asked | WorkResult[NamespacedName]) -> None:
        if isinstance(message, WorkResult):
            self._end(message)
        else:
            self._take_safely(message)

    def _end(self, result: WorkResult[NamespacedName]) -> None:
        self._pool.end(result)
        if result.fault is not None:
            self._metrics.count_failure()
            namespace, agent = result.key
            problem = fault_text(result.fault)
            self._log("error", level="error", namespace=namespace, agent=agent, problem=problem)

    def _take_safely(self, change: Change | Asked) -> None:
        """Take one change; one that cannot be taken ends nothing, and everything is read again."""
        try:
            self._take(change)
        except Exception as error:
            # A defect of ours in one change: the rest goes on, and a LIST follows.
            self._note_defect("watch", error)
            if time.monotonic() >= self._next_suspicion:
                self._next_suspicion = time.monotonic() + SUSPICION_SECONDS
                self._informers.list_again()

    def _note_defect(self, phase: str, error: Exception) -> None:
        self._metrics.count_failure()
        self._log(phase, level="error", problem=fault_text(error))

    def _take(self, change: Change | Asked) -> None:
        if isinstance(change, Asked):
            self._pool.ask(self._store.agents(), change.trigger)
        elif not isinstance(change, Planned) and change.place.kind.kind == NODE[1]:
            self._take_node(change)
        else:
            self._take_object(change)

    def _take_node(self, change: Change) -> None:
        if isinstance(change, WatchLost):
            # Nothing that is declared is unseen for that.
            self._log("watch", level="warning", kind="Node", reason=change.reason)
        for turn in self._nodes.take(change):
            self._pool.ask(self._store.agents_on(turn[0]), trigger_of(turn))

    def _take_object(self, change: Change) -> None:
        if isinstance(change, Planned) and self._informers.learn_late(change.kind):
            self._desired.expire()
            self._pool.ask(self._store.agents(), f"{change.kind.kind} is served now")
        if isinstance(change, WatchLost):
            self._log("watch", level="warning", kind=str(change.place), reason=change.reason)
            self._metrics.drift.restarted(change.place.kind.kind, change.reason)
        were_listed, were_blind = len(self._store.listed), self._store.blind.keys() | set()
        news = self._store.take(change)
        if lost := self._store.blind.keys() - were_blind:
            self._pool.ask(self._store.agents(), f"cannot see {', '.join(lost)}")
        if regained := were_blind - self._store.blind.keys():
            # What moved meanwhile is news of its own; what did not is waited for, too.
            self._pool.ask(self._store.agents(), f"sees {', '.join(regained)} again")
        if len(self._store.listed) > were_listed:
            # Some of them may have waited for this kind.
            self._pool.ask(self._store.agents(), "more was read")
        for identity, live in news:
            self._take_news(identity, live)

    def _take_news(self, identity: Identity, live: KubeObject | None) -> None:
        _, kind, namespace, name = identity
        is_gone = identity not in self._store.objects
        if self._desired.is_source(identity):
            is_news = self._desired.has_changed(identity, None if is_gone else live)
            if is_news and kind == AGENT_KIND:
                self._reconciler.reset_backoff((namespace, name))
                self._pool.ask([(namespace, name)], f"{kind} changed", is_urgent=True)
        elif live is not None and (place := agent_place(identity, live)):
            self._pool.ask([place], f"{kind} {name} {'gone' if is_gone else 'changed'}")

    def _reconcile(self, place: NamespacedName, triggers: Sequence[str]) -> WorkOutcome:
        declaration = self._desired.current
        assert declaration is not None  # noqa: S101  (no work begins before there is one)
        try:
            return self._reconciler.reconcile(place, declaration, triggers)
        except HoldfastError as error:
            self._log("act", level="error", namespace=place[0], agent=place[1], problem=str(error))
            return WorkOutcome(is_done=False)

    def _report_state(self) -> None:
        try:
            self._update_state()
        except Exception as error:
            # What cannot be counted or written of teams stops no agent.
            self._note_defect("status", error)

    def _update_state(self) -> None:
        agents = self._store.of_kind(OWN_GROUP, AGENT_KIND)
        phases = (str((one.get("status") or {}).get("phase") or "Pending") for one in agents)
        self._metrics.note_turn(phases, len(self._pool), self._reconciler.conflicts)
        self._metrics.note_sent(self._client.sent)
        found = self._reconciler.observer.open_findings
        count = sum(finding.is_drift for finding, _ in found)
        status = Status.DRIFT if count else Status.IN_SYNC
        status = Status.UNKNOWN if self.unready else status
        objects = 0
        if self._desired.current is not None:
            objects = len(self._desired.current.judge.declared)
            write_team_statuses(self._store, self._reconciler.actor)
        self._metrics.drift.status_changed(WatchState(status, (), count, objects), found)
