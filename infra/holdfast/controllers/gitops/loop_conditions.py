"""What is true of a stack that a loop holds to a branch, and why. Pure.

Laws: what is not observed is Unknown, never True; nothing changes while the same is observed again
and again, so that a status need not be written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops.reconciler import COMMIT, DRIFT
from holdfast.controllers.gitops.roles import (
    BlockedReason,
    Comparison,
    Field,
    LoopListener,
    RejectedCommitError,
)
from holdfast.errors import HoldfastError
from holdfast.kube.conditions import Condition, join_names
from holdfast.manifest.publish.resource_interface import STACK_CONDITIONS

_SHORT: Final = 12


@dataclass(frozen=True)
class _Problem:
    """Why a commit was not brought to the stack.

    Attributes:
        commit: Which one; empty when it could not even be read, or must not be used.
    """

    error: HoldfastError
    commit: str = ""

    @property
    def rejected(self) -> str:
        """Why it will not do, in one word; empty when it is tried again."""
        return self.error.reason if isinstance(self.error, RejectedCommitError) else ""


class LoopConditions(LoopListener):
    """Listens to a reconciler; read from other threads, too.

    Attributes:
        wanted: Newest commit of the branch; empty until it was read.
        running: Commit that runs; empty where that is not known.
        conflicts: Fields that are only reported, because others keep writing them.
    """

    def __init__(self) -> None:
        self.wanted = self.running = ""
        self._is_observed = self._has_ended = False
        self._blocked: BlockedReason | None = None
        self._problem: _Problem | None = None
        self.conflicts: tuple[Field, ...] = ()
        self._drift: Mapping[str, tuple[Field, ...]] | None = None
        self._unseen: Mapping[str, tuple[str, ...]] = {}
        self._failures: Mapping[str, str] = {}

    def waits(self, blocked: BlockedReason | None) -> None:
        """A piece of work begins, or is hindered."""
        self._blocked = blocked
        self._is_observed = False

    def observed(self, commit: Commit, running: str) -> None:
        """Take the wanted commit; what is known against it still holds while it is the same."""
        self._is_observed = True
        self.wanted, self.running = commit.name, running
        problem = self._problem
        if problem is not None and (problem.commit != commit.name or running == commit.name):
            self._problem = None

    def updated(self, commit: Commit, done: str) -> None:
        """It runs now."""
        self.running, self._problem = commit.name, None

    def compared(self, key: str, found: Comparison) -> None:
        """Take what has drifted; of one agent alone where only that was asked for."""
        fields = {each.name: each.fields for each in found.agents}
        if key == DRIFT:
            self._drift, self._failures, self._unseen = fields, {}, {}
        else:
            if self._drift is not None:
                others = {name: rest for name, rest in self._drift.items() if name != key}
                self._drift = {**others, **fields}
            self._failures = {name: why for name, why in self._failures.items() if name != key}
        self._unseen = {**self._unseen, key: found.unseen}

    def remediate(self, agent: str, fields: Sequence[Field], mode: str, done: str) -> None:
        """What was reverted has drifted no more; what was proposed still has."""
        if mode != "revert" or self._drift is None:
            return
        rest = tuple(each for each in self._drift.get(agent, ()) if each not in fields)
        others = {name: each for name, each in self._drift.items() if name != agent}
        self._drift = {**others, **({agent: rest} if rest else {})}

    def conflicts_are(self, fields: Sequence[Field]) -> None:
        """Take the fields in conflict."""
        self.conflicts = tuple(fields)

    def failed(self, key: str, error: HoldfastError) -> None:
        """Take why a piece of work came to nothing."""
        if key == COMMIT:
            self._problem = _Problem(error, self.wanted if self._is_observed else "")
        else:
            self._failures = {**self._failures, key: str(error)}

    def end(self) -> None:
        """Nobody looks any more."""
        self._has_ended = True

    def now(self) -> tuple[Condition, ...]:
        """All conditions, in the order of their types."""
        if self._has_ended:
            message = "the loop was ended, and nothing is observed"
            return tuple(
                Condition(each, "Unknown", "LoopEnded", message) for each in STACK_CONDITIONS
            )
        if (held := self._blocked) is not None:
            return (
                Condition("Synced", "Unknown", held.reason, held.message),
                Condition("Stalled", "True", held.reason, held.message),
                self._stable(),
                Condition("Drifted", "Unknown", held.reason, held.message),
            )
        return (self._synced(), self._stalled(), self._stable(), self._drifted())

    def _synced(self) -> Condition:
        problem = self._problem
        if problem is not None:
            if problem.rejected:
                return Condition("Synced", "False", problem.rejected, str(problem.error))
            if problem.commit:
                return Condition("Synced", "False", "UpdateFailed", str(problem.error))
            return Condition("Synced", "Unknown", "CannotRead", str(problem.error))
        if not self.wanted:
            return Condition("Synced", "Unknown", "NotRead", "the branch has not been read yet")
        wanted, running = self.wanted[:_SHORT], self.running[:_SHORT]
        if self.wanted == self.running:
            return Condition("Synced", "True", "AtCommit", f"commit {wanted} runs")
        what = f"commit {running} runs" if running else "no commit is known to run"
        return Condition("Synced", "False", "Behind", f"{what}, {wanted} is wanted")

    def _stalled(self) -> Condition:
        problem = self._problem
        if problem is not None and problem.rejected:
            message = f"until there is another commit: {problem.error}"
            return Condition("Stalled", "True", problem.rejected, message)
        if problem is not None:
            return Condition("Stalled", "False", "Retrying", f"tried again: {problem.error}")
        return Condition("Stalled", "False", "Working", "nothing stands in the way")

    def _stable(self) -> Condition:
        if not self.conflicts:
            return Condition("Stable", "True", "NoConflicts", "no other client writes a field")
        message = join_names([f"{name} {path}" for name, path in self.conflicts])
        return Condition(
            "Stable", "False", "Conflict", f"reverted again and again, only reported now: {message}"
        )

    def _drifted(self) -> Condition:
        failures = list(dict.fromkeys(self._failures.values()))
        unseen = list(dict.fromkeys(each for one in self._unseen.values() for each in one))
        if any((self._drift or {}).values()):
            message = join_names([*_words(self._drift or {}), *failures, *unseen])
            return Condition("Drifted", "True", "Drift", message)
        if failures or unseen:
            message = join_names([*failures, *unseen])
            return Condition("Drifted", "Unknown", "CannotSee", message)
        if self._drift is None:
            return Condition("Drifted", "Unknown", "NotCompared", "nothing was compared yet")
        return Condition("Drifted", "False", "InSync", "what runs is as declared")


def fields_in_words(fields: Sequence[Field]) -> str:
    """Fields as a message names them: a few, and how many more. No values."""
    return join_names([f"{name} {path}".rstrip() for name, path in fields])


def _words(drift: Mapping[str, tuple[Field, ...]]) -> Iterator[str]:
    for agent, fields in sorted(drift.items()):
        if fields:
            yield f"{agent or 'no agent'}: {fields_in_words(fields)}"
