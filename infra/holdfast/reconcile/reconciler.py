"""The one reconciler: a commit becomes what runs, and what runs stays so. Observe, diff, act.

It owns neither a diff nor an apply: a source says what is wanted, an actor knows what is, and does
it. Work comes by key through one queue: `commit` for the wanted commit, `drift` for a look at
everything, else the name of an agent that has drifted. Each piece of work has an id, under which
its phases are told.

Laws: nothing is done while the stack is paused or somebody holds its lock; a commit that was
refused, or made things worse, is not tried again; a field that is fought over is only reported.
"""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Protocol

from holdfast.errors import ExitCode, HoldfastError
from holdfast.git.source import Commit
from holdfast.reconcile.fights import FightBreaker
from holdfast.reconcile.queue import KeyedQueue

COMMIT: Final = "commit"
DRIFT: Final = "drift"
BUSY_SECONDS: Final = 2.0
LEAST_SECONDS: Final = 1.0

Field = tuple[str, str]
"""An object and the path of a field in it, as reports write them."""

Log = Callable[..., None]
"""Takes the phase and, by name, what is told of it."""


@dataclass(frozen=True)
class DriftedAgent:
    """An agent that is not as declared.

    Attributes:
        mode: What its manifest says is done about that: report, revert or adopt.
        fields: What differs.
    """

    name: str
    mode: str
    fields: tuple[Field, ...]


class RejectedCommitError(HoldfastError):
    """A commit that will not do, however often it is tried."""


class Desired(Protocol):
    """Where the wanted commit comes from."""

    def newest(self) -> Commit:
        """The wanted commit; raises RejectedCommitError when it must not be used."""


class Actor(Protocol):
    """What knows the stack, and acts on it."""

    def waits_for(self) -> str:
        """Why nothing may be done now: a pause, a lock; empty when something may."""

    def fights_closed_at(self) -> float:
        """When a person last closed all fights, on the reconciler's clock; 0 for never."""

    def running_commit(self) -> str:
        """The commit that the stack was last brought to; empty when that is not known."""

    def update(self, commit: Commit) -> str:
        """Bring the stack to a commit; what was done, in words."""

    def drifted(self, agent: str = "") -> Sequence[DriftedAgent]:
        """Agents that are not as declared: this one, or all of them when it is empty."""

    def put_back(self, agent: str, fields: Sequence[Field]) -> str:
        """Do what the agent's manifest says about these fields; what was done, in words."""


class Listener:
    """Who is told what came of the work; each method may be left out."""

    def reconciled(self, key: str, outcome: str, seconds: float) -> None:
        """A piece of work ended: `succeeded`, `failed`, `rejected`, `unchanged`, `waiting`."""

    def observed(self, commit: Commit, *, is_running: bool) -> None:
        """The wanted commit was read."""

    def fought(self, field: Field) -> None:
        """A breaker has opened."""

    def fights_are(self, fields: Sequence[Field]) -> None:
        """What is fought over now."""


class Reconciler:
    """Works until it is told to stop; `ask` may be called from any thread."""

    def __init__(
        self, desired: Desired, actor: Actor, log: Log, listeners: Sequence[Listener] = ()
    ) -> None:
        """Prepare; nothing is begun yet."""
        self._desired, self._actor = desired, actor
        self._log, self._listeners = log, listeners
        self._queue: KeyedQueue[str] = KeyedQueue(LEAST_SECONDS)
        self._fights: FightBreaker[Field] = FightBreaker()
        self._fights_closed_at = 0.0
        self._changed = threading.Condition()
        self._is_stopping = False
        self._turned = time.monotonic()
        self._rejected = ""
        run = secrets.token_hex(3)
        self._names = (f"{run}-{number}" for number in count(1))

    def ask(self, key: str, *, is_urgent: bool = False) -> None:
        """Ask for a piece of work; from any thread."""
        with self._changed:
            self._queue.add(key, time.monotonic(), is_urgent=is_urgent)
            self._changed.notify()

    def stop(self) -> None:
        """End after the work at hand; from a signal handler, too."""
        self._is_stopping = True

    def run(self, polls: "Sequence[Poll]" = ()) -> None:
        """Work until stopped; each poll asks for its key again and again."""
        while not self._is_stopping:
            self._turned = time.monotonic()
            for poll in polls:
                if poll.is_due(time.monotonic()):
                    self.ask(poll.key)
            if not self.work_once():
                self._wait(polls)

    def seconds_since_turn(self) -> float:
        """How long the work at hand has taken; a few seconds when there is none."""
        return time.monotonic() - self._turned

    def work_once(self) -> bool:
        """Do one piece of work that is due; returns whether there was one."""
        with self._changed:
            key = self._queue.take(time.monotonic())
        if key is None:
            return False
        begun, identifier = time.monotonic(), next(self._names)

        def log(phase: str, **told: Any) -> None:  # noqa: ANN401 - whatever is told
            self._log(phase, id=identifier, key=key, **told)

        outcome = self._outcome(key, log)
        with self._changed:
            has_failed = outcome == "failed"
            rest = self._queue.done(key, time.monotonic(), has_succeeded=not has_failed)
            if outcome == "waiting":
                self._queue.add(key, time.monotonic() + BUSY_SECONDS)
        if has_failed:
            log("rest", seconds=rest, failures=self._queue.failures(key))
        for listener in self._listeners:
            listener.reconciled(key, outcome, time.monotonic() - begun)
        return True

    def _outcome(self, key: str, log: Log) -> str:
        try:
            if why := self._actor.waits_for():
                log("wait", reason=why)
                return "waiting"
            self._close_fights_as_told(log)
            return self._bring_to_commit(log) if key == COMMIT else self._put_back(key, log)
        except RejectedCommitError as error:
            log("error", error=str(error))
            return "rejected"
        except HoldfastError as error:
            if error.exit_code is ExitCode.CANCELLED:
                self._is_stopping = True
            log("error", error=str(error))
            return "failed"

    def _bring_to_commit(self, log: Log) -> str:
        wanted = self._desired.newest()
        running = self._actor.running_commit()
        is_running = running == wanted.name
        log("observe", wanted=wanted.short, running=running[:12] or "unknown")
        for listener in self._listeners:
            listener.observed(wanted, is_running=is_running)
        if is_running or wanted.name == self._rejected:
            log("diff", changed=False, rejected=wanted.name == self._rejected)
            return "unchanged"
        log("diff", changed=True, author=wanted.author, subject=wanted.subject)
        try:
            log("act", done=self._actor.update(wanted))
        except RejectedCommitError:
            self._rejected = wanted.name
            raise
        if self._fights.close_all():
            self._tell_fights()
        self.ask(DRIFT)
        return "succeeded"

    def _put_back(self, key: str, log: Log) -> str:
        agents = self._actor.drifted("" if key == DRIFT else key)
        log("observe", agents=len(agents))
        outcome = "unchanged"
        for agent in agents:
            fought = [each for each in agent.fields if self._fights.is_open(each)]
            free = [each for each in agent.fields if not self._fights.is_open(each)]
            log("diff", agent=agent.name, mode=agent.mode, fields=len(free), fought=len(fought))
            if agent.mode == "report" or not free:
                continue
            log("act", agent=agent.name, done=self._actor.put_back(agent.name, free))
            outcome = "succeeded"
            if agent.mode == "revert":
                self._note_put_back(free, log)
        return outcome

    def _note_put_back(self, fields: Sequence[Field], log: Log) -> None:
        for field in fields:
            if self._fights.note(field, time.monotonic()):
                log("fight", object=field[0], path=field[1], reason="Fighting")
                for listener in self._listeners:
                    listener.fought(field)
        self._tell_fights()

    def _close_fights_as_told(self, log: Log) -> None:
        closed_at = self._actor.fights_closed_at()
        if closed_at <= self._fights_closed_at:
            return
        self._fights_closed_at = closed_at
        if closed := self._fights.close_all():
            log("fights closed", count=closed)
            self._tell_fights()

    def _tell_fights(self) -> None:
        for listener in self._listeners:
            listener.fights_are(tuple(self._fights.open_keys))

    def _wait(self, polls: "Sequence[Poll]") -> None:
        now = time.monotonic()
        with self._changed:
            due = self._queue.seconds_until_due(now)
            waits = [BUSY_SECONDS, *(poll.seconds_until_due(now) for poll in polls)]
            # A signal handler sets a flag alone: it must be seen soon.
            self._changed.wait(min([*waits, *([due] if due is not None else [])]))


@dataclass
class Poll:
    """Asks for a key every so many seconds, at once at first."""

    key: str
    every_seconds: float
    next_time: float = 0.0

    def is_due(self, now: float) -> bool:
        """Whether it is time; then the next time is set."""
        if now < self.next_time:
            return False
        self.next_time = now + self.every_seconds
        return True

    def seconds_until_due(self, now: float) -> float:
        """How long until it is time."""
        return max(0.0, self.next_time - now)
