"""What a killed run has left of a stack: its lock, and operations that were never done. Mended."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from holdfast.adapters.engine.backend.asked_lock import ask_holders
from holdfast.adapters.engine.backend.lock_holder import LockHolder, recovery_command
from holdfast.adapters.engine.failures.failures import command_failure
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.checkpoint import Deployment, PendingOperation
from holdfast.adapters.engine.state.rebuilding import exported, import_state
from holdfast.errors import EngineError
from holdfast.kube.objects import reference_of

_COMMAND_TIMEOUT_SECONDS = 300.0
# Types of pending operations, as the engine writes them.
_CHANGING, _DELETING = "updating", "deleting"
_HALF_DONE = "an update that was killed may have changed it"


class Interrupted(msgspec.Struct, frozen=True):
    """What a killed run has left; empty when nothing.

    Attributes:
        holders: Whose lock lies there.
        pending: Operations that were begun, in words: `creating Deployment cx/app`.
    """

    holders: tuple[LockHolder, ...] = ()
    pending: tuple[str, ...] = ()

    def refusal(self, stack: str) -> EngineError | None:
        """Why an update must not begin; None when it may."""
        if self.holders:
            return EngineError(
                f"stack {stack} is locked by {', '.join(map(str, self.holders))}",
                remedy=self.worst.remedy(stack),
            )
        if self.pending:
            return EngineError(
                f"a killed run of stack {stack} left half done: {', '.join(self.pending)}",
                remedy=f"run '{recovery_command(stack)}' to go on from there",
            )
        return None

    @property
    def worst(self) -> LockHolder:
        """The holder that stands in the way: one that may still run, if any does."""
        return next((each for each in self.holders if not each.has_ended), self.holders[0])


def interrupted(stack: Stack) -> Interrupted:
    """Look at what a killed run has left: in the files of a folder, else by asking the engine.

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
    holders = ask_holders(stack)
    state = stack.export_if_there() or Deployment()
    return Interrupted(holders, tuple(in_words(each) for each in state.pending_operations))


def mend(stack: Stack, left: Interrupted) -> Iterator[str]:
    """Free the stack of what a killed run has left; what it had begun, the next update does again.

    Every object has a name of its own and is applied by one manager: what a killed run has created
    without writing it down is adopted. What it was changing is applied anew by the next update,
    even where that declares what the state has; what it was deleting is looked for.

    Yields:
        What was done, for people.

    Raises:
        EngineError: a holder of the lock may still run, or the backend or the cluster refuses.
    """
    if left.holders:
        if not left.worst.has_ended:
            raise EngineError(
                f"stack {stack.name} is locked by {left.worst}, and may be so rightly",
                remedy=left.worst.remedy(stack.name),
            )
        arguments = ["cancel", "--yes", "--stack", stack.name]
        done = stack.runner.run(arguments, lambda _: None, _COMMAND_TIMEOUT_SECONDS)
        if error := command_failure("cancel", stack.name, done):
            raise error
        yield f"removed the lock of {', '.join(map(str, left.holders))}: it has ended"
    if left.pending:
        document = exported(stack)
        if deleted := _in_deletion(document["deployment"]):
            stack.refresh(targets=deleted)
            document = exported(stack)
        import_state(stack, dict(document, deployment=without_pending(document["deployment"])))
        yield f"taken up again: {', '.join(left.pending)}"


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
