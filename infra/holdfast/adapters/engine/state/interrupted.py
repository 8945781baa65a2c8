"""What a run under way, or a killed one, has left of a stack: locks and operations unfinished."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from holdfast.adapters.engine.backend.lock_holder import (
    LockHolder,
    StackLockedError,
    recovery_command,
    worst_of,
)
from holdfast.adapters.engine.backend.remote_backend import RemoteHistory
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.checkpoint import PendingOperation
from holdfast.errors import EngineError, ExitCode
from holdfast.kube.objects import reference_of

# Types of pending operations, as the engine writes them.
_CHANGING, _DELETING = "updating", "deleting"
_HALF_DONE = "an update that was killed may have changed it"


class Interrupted(msgspec.Struct, frozen=True):
    """What a run has left; empty when nothing.

    Attributes:
        holders: Whose locks are known of.
        pending: Operations that were begun, in words: `creating Deployment cx/app`.
        may_be_locked: Whether a lock may lie there that is not among the holders: the engine has
            no command that reads the locks of a bucket or a database. It refuses to write beside
            one.
    """

    holders: tuple[LockHolder, ...] = ()
    pending: tuple[str, ...] = ()
    may_be_locked: bool = False

    def refusal(self, stack: str) -> EngineError | None:
        """Why nothing must be written now; None when it may."""
        if self.holders:
            return StackLockedError(stack, self.holders)
        if not self.pending:
            return None
        pending = ", ".join(self.pending)
        if self.may_be_locked:
            return EngineError(
                f"a run is changing stack {stack}, or was killed while it did; unfinished: "
                f"{pending}",
                remedy=f"wait for it to end; if none runs, run '{recovery_command(stack)}'",
            )
        return EngineError(
            f"a killed run of stack {stack} left unfinished: {pending}",
            remedy=f"run '{recovery_command(stack)}' to resume",
        )

    @property
    def worst(self) -> LockHolder:
        """The holder that stands in the way: one that may still run, if any does."""
        return worst_of(self.holders)


def interrupted(stack: Stack) -> Interrupted:
    """Find what a run has left: in the files of a folder, else by asking the engine.

    Raises:
        EngineError: the state cannot be read.
    """
    files = stack.files
    if files is None:
        return _asked(stack)
    if files.current_path() is None:
        return Interrupted()
    return Interrupted(files.holders(), tuple(in_words(each) for each in files.pending()))


def _asked(stack: Stack) -> Interrupted:
    state = stack.export_if_there()
    if state is None:
        return Interrupted()
    pending = tuple(in_words(each) for each in state.pending_operations)
    return Interrupted(updates_of_service(stack), pending, may_be_locked=stack.may_hide_locks)


def updates_of_service(stack: Stack) -> tuple[LockHolder, ...]:
    """Updates of a stack that Pulumi Cloud says are under way; none for any other backend.

    Raises:
        EngineError: the history cannot be read.
    """
    if not stack.may_be_served:
        return ()
    try:
        return RemoteHistory(stack).running
    except EngineError as error:
        if error.exit_code is not ExitCode.NO_STACK:
            raise
        return ()


def recover_interrupted(stack: Stack, left: Interrupted) -> Iterator[str]:
    """Free the stack of what a killed run has left; what it had begun, the next update does again.

    Every object has a name of its own and is applied by one manager: what a killed run has created
    without writing it down is adopted. What it was changing is applied again by the next update,
    even where that declares what the state has; what it was deleting is looked for.

    Yields:
        What was done, for people.

    Raises:
        StackLockedError: a holder of a lock may still run.
        EngineError: the backend or the cluster refuses.
    """
    if left.holders:
        yield _without_lock(stack, left.holders)
    if left.pending:
        try:
            _without_pending(stack)
        except StackLockedError as error:
            yield _without_lock(stack, error.holders)
            _without_pending(stack)
        yield f"resumed: {', '.join(left.pending)}"


def past_dead_lock(
    stack: Stack, run: Callable[[], RunResult], note: Callable[[str], None]
) -> RunResult:
    """Run the engine on a stack; a lock of a process that has ended does not stop it.

    Where the backend shows no locks, only the engine's refusal says that one lies there.

    Args:
        stack: The stack.
        run: Runs the engine; called again when it was refused for such a lock.
        note: Called with what was done about the lock.

    Raises:
        StackLockedError: a holder of the lock may still run; nothing was begun.
    """
    try:
        return run()
    except StackLockedError as error:
        note(_without_lock(stack, error.holders))
    return run()


def _without_lock(stack: Stack, holders: tuple[LockHolder, ...]) -> str:
    """Remove locks of processes that have ended; says so."""
    if not worst_of(holders).has_ended:
        raise StackLockedError(stack.name, holders)
    stack.cancel()
    return f"removed the lock of {', '.join(map(str, holders))}: it has ended"


def _without_pending(stack: Stack) -> None:
    document = stack.state()
    if deleted := _in_deletion(document["deployment"]):
        stack.refresh(targets=deleted)
        document = stack.state()
    stack.import_state(dict(document, deployment=without_pending(document["deployment"])))


def without_pending(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """A state without pending operations, which says of what was being changed that it is not done.

    The killed run may have written to the cluster what the state does not know. An object of which
    the engine has noted that it did not come up is applied again, whatever its record says.
    """
    changed = _begun(deployment, _CHANGING)
    kept = {key: value for key, value in deployment.items() if key != "pending_operations"}
    return kept | {
        "resources": [
            dict(each, initErrors=[_HALF_DONE]) if each["urn"] in changed else each
            for each in deployment.get("resources") or ()
        ]
    }


def _in_deletion(deployment: Mapping[str, Any]) -> list[str]:
    """URNs of what may be gone and is in the state all the same."""
    recorded = {each["urn"] for each in deployment.get("resources") or ()}
    return sorted(_begun(deployment, _DELETING) & recorded)


def _begun(deployment: Mapping[str, Any], operation: str) -> set[str]:
    """URNs of what an operation of one type was begun on."""
    pending = deployment.get("pending_operations") or ()
    return {each["resource"]["urn"] for each in pending if each["type"] == operation}


def in_words(operation: PendingOperation) -> str:
    """One pending operation: what was being done to which object."""
    inputs = msgspec.json.decode(operation.resource.inputs)
    if isinstance(inputs, dict) and "kind" in inputs:
        return f"{operation.type} {reference_of(inputs)}"
    return f"{operation.type} {operation.resource.urn.rpartition('::')[2]}"
