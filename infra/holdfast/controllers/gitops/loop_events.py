"""What a loop has done and found, each thing once: the Events about its stack. Pure.

Law: what stays as it is, is recorded once, however often it is observed; what comes back after it
had gone is recorded again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops.loop_conditions import fields_in_words
from holdfast.controllers.gitops.reconciler import COMMIT, DRIFT
from holdfast.controllers.gitops.roles import (
    SUSPENDED,
    BlockedReason,
    Comparison,
    Field,
    LoopListener,
    RejectedCommitError,
)
from holdfast.errors import HoldfastError

_DEALT_WITH: Final = {
    "report": "it is only reported",
    "revert": "it is reverted",
    "adopt": "it is proposed on a branch",
}


@dataclass(frozen=True)
class EventRecord:
    """One thing that has happened.

    Attributes:
        reason: One word in CamelCase, for programs.
        note: For people; no values of fields.
        is_warning: A person should look into it.
    """

    reason: str
    note: str
    is_warning: bool = False


class LoopEvents(LoopListener):
    """Listens to a reconciler, and records what is news."""

    def __init__(self, record: Callable[[EventRecord], None]) -> None:
        """Begin to listen.

        Args:
            record: Takes each event, once.
        """
        self._record = record
        self._is_suspended = False
        self._failures: dict[str, str] = {}
        self._known: dict[str, frozenset[Field]] = {}
        self._proposed: dict[str, frozenset[Field]] = {}

    def waits(self, blocked: BlockedReason | None) -> None:
        """A suspension begins or ends; a lock is another client's update, and no news."""
        is_suspended = blocked is not None and blocked.reason == SUSPENDED
        if is_suspended != self._is_suspended:
            note = blocked.message if blocked is not None else "the suspension has ended"
            self._record(EventRecord(SUSPENDED if is_suspended else "Resumed", note))
        self._is_suspended = is_suspended

    def observed(self, commit: Commit, running: str) -> None:
        """A failure is over when what is wanted runs."""
        if running == commit.name:
            self._failures.pop(COMMIT, None)

    def updated(self, commit: Commit, done: str) -> None:
        """An update was done."""
        self._failures.pop(COMMIT, None)
        note = f"commit {commit.short} by {commit.author}: {done}"
        self._record(EventRecord("Updated", note))

    def failed(self, key: str, error: HoldfastError) -> None:
        """Work failed; recorded again when the reason is another one."""
        if self._failures.get(key) == str(error):
            return
        self._failures[key] = str(error)
        reason, note = "UpdateFailed" if key == COMMIT else "ReconcileFailed", str(error)
        if isinstance(error, RejectedCommitError):
            is_back = error.reason == "RolledBack"
            reason = error.reason if is_back else "UpdateRefused"
            note = note if is_back else f"{error.reason}: {note}"
        self._record(EventRecord(reason, note, is_warning=True))

    def compared(self, key: str, found: Comparison) -> None:
        """Tell of drift that was not there at the last evaluation."""
        drifted = {each.name: frozenset(each.fields) for each in found.agents}
        for each in found.agents:
            known = self._known.get(each.name, frozenset())
            if new := [one for one in each.fields if one not in known]:
                whose, then = each.name or "no agent", _DEALT_WITH[each.mode]
                note = f"{whose}: {fields_in_words(new)}; {then}"
                self._record(EventRecord("DriftFound", note, is_warning=True))
        kept = {} if key == DRIFT else {k: v for k, v in self._known.items() if k != key}
        self._known = {**kept, **drifted}
        self._proposed = {name: each for name, each in self._proposed.items() if name in drifted}

    def remediate(self, agent: str, fields: Sequence[Field], mode: str, done: str) -> None:
        """Tell of what was done; the same proposal once."""
        whose = agent or "no agent"
        if mode == "revert":
            self._known[agent] = self._known.get(agent, frozenset()) - set(fields)
            self._record(EventRecord("Reverted", f"{whose}: {fields_in_words(fields)}"))
        elif self._proposed.get(agent) != frozenset(fields):
            self._proposed[agent] = frozenset(fields)
            self._record(EventRecord("Proposed", f"{whose}: {done}: {fields_in_words(fields)}"))

    def conflict_opened(self, field: Field) -> None:
        """A breaker has opened."""
        note = f"{fields_in_words([field])}: reverted again and again, and only reported now"
        self._record(EventRecord("ConflictOpened", note, is_warning=True))

    def reconciled(self, key: str, outcome: str, seconds: float) -> None:
        """A failure that is over is news when it comes again."""
        if outcome in ("succeeded", "unchanged") and key != COMMIT:
            self._failures.pop(key, None)
