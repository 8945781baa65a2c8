"""The one reconciler: a commit becomes what runs, and what runs stays so. Observe, diff, act.

It owns neither a diff nor an apply: an actor knows what is wanted and what is, and does it. Work
comes by key through one queue: `commit` for the wanted commit, `drift` for everything, else the
name of an agent that has drifted. Each piece of work has an id, under which its phases are logged,
and which is a trace where one is asked for.

Laws: nothing is done while the stack is suspended or its lock is held; a commit that was
refused, or made things worse, is not tried again; a field in conflict is only reported.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from holdfast.adapters.cluster.api_error import fault_text
from holdfast.adapters.tracing.spans import UNTRACED, Tracer
from holdfast.controllers.gitops.roles import (
    SUSPENDED,
    BlockedReason,
    Comparison,
    DriftedAgent,
    Field,
    LoopListener,
    RejectedCommitError,
    StackActor,
)
from holdfast.controllers.runtime.conflicts import ConflictBreaker
from holdfast.controllers.runtime.event_loop import EventLoop
from holdfast.controllers.runtime.log import Log, LoggedRun, Runs
from holdfast.controllers.runtime.queue import KeyedQueue
from holdfast.controllers.runtime.workers import WorkerPool, WorkOutcome, WorkResult
from holdfast.errors import ExitCode, HoldfastError
from holdfast.operations.stack.agent_stack import LoopControl

COMMIT: Final = "commit"
DRIFT: Final = "drift"
BUSY_SECONDS: Final = 2.0
SUSPENDED_SECONDS: Final = 30.0
"""A watch reports that a stack is resumed; without one it is read again after so long."""

LEAST_SECONDS: Final = 1.0
_AGAIN_SECONDS: Final = {"waiting": BUSY_SECONDS, "suspended": SUSPENDED_SECONDS}
POLL_JITTER: Final = 0.1


class Reconciler:
    """Works until it is stopped; `ask` may be called from any thread."""

    def __init__(
        self,
        actor: StackActor,
        log: Log,
        listeners: Sequence[LoopListener] = (),
        tracer: Tracer = UNTRACED,
    ) -> None:
        """Prepare; nothing is begun yet."""
        self._actor = actor
        self._listeners = listeners
        self._log, self._runs = log, Runs(log, tracer)
        self._conflicts: ConflictBreaker[Field] = ConflictBreaker()
        self._control: LoopControl | None = None
        self._rejected = ""
        self._loop: EventLoop[_RequestedWork] = EventLoop(self._take, self._turn)
        self._pool: WorkerPool[str] = WorkerPool(self._work, KeyedQueue(LEAST_SECONDS), self._end)

    def ask(self, key: str, trigger: str = "", *, is_urgent: bool = False) -> None:
        """Ask for a piece of work, and say why; from any thread."""
        self._loop.post(_RequestedWork(key, trigger, is_urgent))

    def stop(self) -> None:
        """End after the work under way; from a signal handler, too."""
        self._loop.stop()

    def run(self, polls: "Sequence[Poll]" = ()) -> None:
        """Work until stopped; each poll asks for its key at once, then again and again."""
        for poll in polls:
            trigger = f"every {poll.every_seconds:g} s"
            self._loop.every(
                partial(float, poll.every_seconds),
                partial(self._pool.ask, [poll.key], trigger),
                jitter=POLL_JITTER,
                at_once=True,
            )
        self._loop.run()

    def seconds_since_turn(self) -> float:
        """How long the work under way has taken; a few seconds when there is none."""
        return self._loop.seconds_since_turn

    def _take(self, asked: "_RequestedWork") -> None:
        self._pool.ask([asked.key], asked.trigger, is_urgent=asked.is_urgent)

    def _turn(self) -> float | None:
        """Work in this thread on one key that is due: a signal has to reach the engine's run."""
        self._pool.begin_due()
        return self._pool.seconds_until_due()

    def _work(self, key: str, triggers: tuple[str, ...]) -> WorkOutcome:
        begun = time.monotonic()
        with self._runs.begin(triggers, key=key) as work:
            outcome = self._outcome(work)
            work.span.note(outcome=outcome)
            with work.phase("status"):
                for listener in self._listeners:
                    try:
                        listener.reconciled(key, outcome, time.monotonic() - begun)
                    except Exception as error:
                        # What cannot be reported stops no work.
                        work.log("error", level="error", error=fault_text(error))
        return WorkOutcome(outcome != "failed", _AGAIN_SECONDS.get(outcome))

    def _end(self, result: WorkResult[str]) -> None:
        key, rest = result.key, self._pool.end(result)
        if not result.outcome.is_done:
            self._log("rest", key=key, seconds=rest, failures=self._pool.failures(key))

    def _outcome(self, work: LoggedRun) -> str:
        try:
            blocked = self._blocked_by(work)
            for listener in self._listeners:
                listener.waits(blocked)
            if blocked is not None:
                work.log("wait", reason=blocked.message)
                return "suspended" if blocked.reason == SUSPENDED else "waiting"
            return (
                self._deploy_commit(work) if work.facts["key"] == COMMIT else self._remediate(work)
            )
        except RejectedCommitError as error:
            self._fail(work, error)
            return "rejected"
        except HoldfastError as error:
            if error.exit_code is ExitCode.CANCELLED:
                self._loop.stop()
            self._fail(work, error)
            return "failed"
        except Exception as error:
            # A defect in one piece of work is tried again like any failure, and ends nothing else.
            self._fail(work, HoldfastError(fault_text(error)))
            return "failed"

    def _fail(self, work: LoggedRun, error: HoldfastError) -> None:
        work.fail(error)
        for listener in self._listeners:
            listener.failed(work.facts["key"], error)

    def _deploy_commit(self, work: LoggedRun) -> str:
        with work.phase("observe") as observing:
            wanted = self._actor.newest()
            running = self._actor.running_commit()
            is_running = running == wanted.name
            observing.note(wanted=wanted.name, running=running)
            work.observed(wanted=wanted.short, running=running[:12] or "unknown")
            for listener in self._listeners:
                listener.observed(wanted, running)
        with work.phase("diff", changed=not is_running):
            if is_running or wanted.name == self._rejected:
                work.log("diff", changed=False, rejected=wanted.name == self._rejected)
                return "unchanged"
            work.log("diff", changed=True, author=wanted.author, subject=wanted.subject)
        try:
            with work.phase("act", commit=wanted.name):
                done = self._actor.update(wanted)
                work.log("act", done=done)
        except RejectedCommitError:
            self._rejected = wanted.name
            raise
        for listener in self._listeners:
            listener.updated(wanted, done)
        if self._conflicts.close_all():
            self._report_conflicts()
        self.ask(DRIFT, "after an update")
        return "succeeded"

    def _remediate(self, work: LoggedRun) -> str:
        with work.phase("observe") as observing:
            found = self._actor.drifted("" if work.facts["key"] == DRIFT else work.facts["key"])
            observing.note(agents=[each.name for each in found.agents])
            work.observed(agents=len(found.agents))
        self._report_compared(work.facts["key"], found)
        outcome = "unchanged"
        for agent in found.agents:
            if self._loop.is_stopping:
                break  # the lease may be lost: nothing more is written
            free = self._free_fields(agent, work)
            if agent.mode == "report" or not free:
                continue
            with work.phase("act", agent=agent.name):
                done = self._actor.remediate(agent.name, free)
                work.log("act", agent=agent.name, done=done)
            outcome = "succeeded"
            for listener in self._listeners:
                listener.remediate(agent.name, free, agent.mode, done)
            if agent.mode == "revert":
                self._record_reverts(free, work)
        return outcome

    def _free_fields(self, agent: DriftedAgent, work: LoggedRun) -> list[Field]:
        """What of an agent's drift may be remediated: all but what is in conflict or left."""
        with work.phase("diff", agent=agent.name, mode=agent.mode) as comparing:
            contested = [each for each in agent.fields if self._conflicts.is_open(each)]
            left = {*contested, *agent.left}
            free = [each for each in agent.fields if each not in left]
            counts: dict[str, Any] = {"fields": len(free), "conflicts": len(contested)}
            comparing.note(**counts)
            for place, reason in agent.left.items():
                facts = {"object": place[0], "path": place[1], "reason": reason}
                work.log("leave", agent=agent.name, **facts)
            work.log("diff", agent=agent.name, mode=agent.mode, **counts)
        return free

    def _report_compared(self, key: str, found: Comparison) -> None:
        for listener in self._listeners:
            listener.compared(key, found)

    def _record_reverts(self, fields: Sequence[Field], work: LoggedRun) -> None:
        for each in fields:
            if self._conflicts.note(each, time.monotonic()):
                work.log("conflict", object=each[0], path=each[1], reason="Conflict")
                for listener in self._listeners:
                    listener.conflict_opened(each)
        self._report_conflicts()

    def _blocked_by(self, work: LoggedRun) -> BlockedReason | None:
        control = self._actor.control()
        self._take_conflicts(control, work)
        if control.suspension is not None:
            return BlockedReason(SUSPENDED, str(control.suspension))
        return self._actor.blocked_by()

    def _take_conflicts(self, control: LoopControl, work: LoggedRun) -> None:
        """Go on from the recorded conflicts; end all of them when a person says so."""
        before, self._control = self._control, control
        if before is None:
            recorded = control.conflicts.items()
            kept = [each for each, since in recorded if since > control.conflicts_reset_at]
            for each in kept:
                self._conflicts.open(each, time.monotonic())
            if kept:
                work.log("conflicts", restored=len(kept))
                self._report_conflicts()
        elif control.conflicts_reset_at != before.conflicts_reset_at and (
            ended := self._conflicts.close_all()
        ):
            work.log("conflicts", ended=ended)
            self._report_conflicts()

    def _report_conflicts(self) -> None:
        for listener in self._listeners:
            listener.conflicts_are(tuple(self._conflicts.open_keys))


@dataclass(frozen=True)
class _RequestedWork:
    """Somebody asks for a piece of work."""

    key: str
    trigger: str
    is_urgent: bool


@dataclass(frozen=True)
class Poll:
    """Asks for a key every so many seconds."""

    key: str
    every_seconds: float
