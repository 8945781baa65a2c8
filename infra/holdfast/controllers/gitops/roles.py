"""What a reconciler works with: a source of commits, an actor, listeners."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from holdfast.adapters.git.source import Commit
from holdfast.errors import HoldfastError
from holdfast.operations.stack.agent_stack import LoopControl

SUSPENDED: Final = "Suspended"

Field = tuple[str, str]
"""An object and the path of a field in it, as reports write them."""


@dataclass(frozen=True)
class DriftedAgent:
    """An agent that is not as declared.

    Attributes:
        name: Empty for what belongs to no agent.
        mode: Of its manifest: report, revert or adopt.
        fields: What differs.
        left: What of that is left alone whatever the mode, and why.
    """

    name: str
    mode: str
    fields: tuple[Field, ...]
    left: Mapping[Field, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """What runs, compared with what is declared.

    Attributes:
        agents: Those that are not as declared.
        unseen: What could not be compared, and why; nothing good is said of it.
    """

    agents: tuple[DriftedAgent, ...] = ()
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlockedReason:
    """Why nothing may be done now.

    Attributes:
        reason: One word in CamelCase: Suspended, Locked.
        message: Who, since when and why.
    """

    reason: str
    message: str


class RejectedCommitError(HoldfastError):
    """A commit that will not do, however often it is tried.

    Attributes:
        reason: Why, in one word in CamelCase: Invalid, PolicyRefused, Unsigned, TakenBack, ...
    """

    def __init__(self, message: str, *, remedy: str = "", reason: str = "CommitRejected") -> None:
        super().__init__(message, remedy=remedy)
        self.reason = reason


class StackActor(Protocol):
    """What knows the branch and the stack, and acts on it."""

    def newest(self) -> Commit:
        """The wanted commit; raises RejectedCommitError when it must not be used."""

    def control(self) -> LoopControl:
        """What the AgentStack says: that the stack is suspended, that conflicts are over."""

    def blocked_by(self) -> BlockedReason | None:
        """Why nothing may be done now, such as a lock; None when something may."""

    def running_commit(self) -> str:
        """The commit that the stack was last brought to; empty when that is not known."""

    def update(self, commit: Commit) -> str:
        """Bring the stack to a commit; what was done, in words."""

    def drifted(self, agent: str = "") -> Comparison:
        """What is not as declared: of this agent, or of all of them when it is empty."""

    def remediate(self, agent: str, fields: Sequence[Field]) -> str:
        """Revert or propose these fields, as the manifest says; what was done, in words."""


class LoopListener:
    """Hears what came of the work; each method may be left out."""

    def waits(self, blocked: BlockedReason | None) -> None:
        """Something hinders all work, or nothing does any more; at the beginning of each piece."""

    def observed(self, commit: Commit, running: str) -> None:
        """The wanted commit was read, and the one that runs; an update begins if they differ."""

    def updated(self, commit: Commit, done: str) -> None:
        """A commit was brought to the stack."""

    def compared(self, key: str, found: Comparison) -> None:
        """What runs was compared; by a key that is no agent's, all of it."""

    def remediate(self, agent: str, fields: Sequence[Field], mode: str, done: str) -> None:
        """Fields of an agent were reverted or proposed."""

    def conflict_opened(self, field: Field) -> None:
        """A breaker has opened."""

    def conflicts_are(self, fields: Sequence[Field]) -> None:
        """The fields in conflict now."""

    def failed(self, key: str, error: HoldfastError) -> None:
        """A piece of work failed; a rejected commit once for each time it is read."""

    def reconciled(self, key: str, outcome: str, seconds: float) -> None:
        """A piece of work ended.

        The outcome is `succeeded`, `failed`, `rejected`, `unchanged`, `waiting` or `suspended`.
        """
