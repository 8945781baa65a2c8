"""A lost state rebuilt from the files and the cluster, or from a copy, and compared with both."""

from dataclasses import dataclass

import msgspec

from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast.adapters.engine.state.checkpoint import Deployment
from holdfast.adapters.engine.state.interrupted import (
    Interrupted,
    interrupted,
    recover_interrupted,
    updates_of_service,
)
from holdfast.adapters.engine.state.rebuilding import rebuild
from holdfast.adapters.engine.state.state_backup import backed_up_state, emptied_state, restore
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.update_annotations import UPDATE_ANNOTATIONS
from holdfast.errors import EngineError, ExitCode, HoldfastError, InputError
from holdfast.kube.paths import format_path
from holdfast.operations.deploy.state_copies import offer_copy
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import action_record, journal_of

CLUSTER = "cluster"


@dataclass(frozen=True)
class RecoveryRequest:
    """What is to be recovered.

    Attributes:
        replace: Rebuild the state from the cluster although there is one.
        reason: For the history.
    """

    replace: bool = False
    reason: str = ""


@dataclass(frozen=True)
class RecoveryResult:
    """A state that was recovered, and what differs from it.

    Attributes:
        source: What it was made from: `cluster`, or the path of the copy.
        recovered: How many objects it has.
        missing: Declared objects that the cluster does not have.
        left_out: What could not become part of the state, each with the reason.
        would_change: What a preview would do.
        drift: What a scan found.
        not_checked: What could not be compared, and why.
    """

    source: str
    recovered: int = 0
    missing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    would_change: tuple[str, ...] = ()
    drift: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether everything was compared, and nothing differs."""
        return not (self.would_change or self.drift or self.not_checked)


@dataclass(frozen=True)
class _Rebuilt:
    source: str
    left_out: tuple[str, ...] = ()
    found: RunResult | None = None


def recover(
    context: StackContext, request: RecoveryRequest, progress: Progress = SILENT
) -> RecoveryResult:
    """Recover the lost state of a stack; nothing is written to the cluster.

    The history has it as soon as the state is there: what is compared afterwards may fail, and is
    reported as not checked.

    Raises:
        InputError: the stack has a state, and it was not to be replaced.
        EngineError: the backend, the program or the cluster fails; the state is as before.
    """
    # A trial at the cluster ends in a conflict where another manager has changed a field.
    stack = open_stack(
        context.root,
        context.name,
        kubeconfig=context.sandbox_kubeconfig,
        variables={"PULUMI_DISABLE_PROVIDER_PREVIEW": "true"},
        timeout_seconds=context.engine_timeout_seconds,
    )
    rebuilt = _recovered(stack, progress, replaces=request.replace)
    record = action_record("recover", context.name, request.reason)
    journal = journal_of(context.root, context.name)
    journal.add(msgspec.structs.replace(record, detail=f"recovered from {rebuilt.source}"))
    result = _compared(context, stack, rebuilt)
    journal.add(_with_outcome(record, result))
    return result


def _with_outcome(record: UpdateRecord, result: RecoveryResult) -> UpdateRecord:
    detail = f"{result.recovered} objects recovered, {len(result.missing)} not in the cluster"
    if result.not_checked:
        detail += f"; not checked: {result.not_checked[0]}"
    return msgspec.structs.replace(record, detail=detail)


def _compared(context: StackContext, stack: Stack, rebuilt: _Rebuilt) -> RecoveryResult:
    """What the new state holds, and what a preview and a scan say about it."""
    drifted = rebuilt.found.drifted if rebuilt.found else ()
    recovered = 0
    would_change: tuple[str, ...] = ()
    drift: tuple[str, ...] = ()
    not_checked: list[str] = []
    try:
        recovered = _objects_in(stack.export())
    except HoldfastError as error:
        not_checked.append(f"the new state: {error.message}")
    try:
        steps = stack.preview().steps
        would_change = tuple(sorted(f"{step.operation} {step}" for step in steps))
    except HoldfastError as error:
        not_checked.append(f"preview: {error.message}")
    try:
        report = Scanner(ScanRequest(context.root, context.name), context=context).scan().report
        # What an update puts beside the declaration stood in the record that was lost: the next
        # update writes it again.
        counted = (each for each in report.drift if each.path not in UPDATE_ANNOTATIONS)
        found = (f"{each.ref} {format_path(each.path)}".strip() for each in counted)
        drift = tuple(sorted(found))
        not_checked += [f"{each.scope}: {each.reason}" for each in report.not_checked]
    except HoldfastError as error:
        not_checked.append(f"scan: {error.message}")
    return RecoveryResult(
        rebuilt.source,
        recovered,
        tuple(sorted(str(step) for step in drifted if step.operation == "delete")),
        rebuilt.left_out,
        would_change,
        drift,
        tuple(sorted(not_checked)),
    )


def _recovered(stack: Stack, progress: Progress, *, replaces: bool) -> _Rebuilt:
    files = stack.files
    if files is None:
        return _recovered_elsewhere(stack, progress, replaces=replaces)
    if error := Interrupted(files.holders()).refusal(stack.name):
        raise error
    damage = "it was to be replaced" if replaces else _damage_of(stack)
    copy = None if replaces or not damage else next(files.copies(), None)
    with backed_up_state(files) as kept:
        for path in kept:
            progress.note(f"{damage or 'it was empty'}: the old state is kept as {path}")
        if copy is None:
            return _from_cluster(stack, progress)
        restore(files, copy)
        progress.note(f"took the newest copy that can be read: {copy}")
        for _ in recover_interrupted(stack, interrupted(stack)):
            pass
        return _Rebuilt(str(copy))


def _recovered_elsewhere(stack: Stack, progress: Progress, *, replaces: bool) -> _Rebuilt:
    """The same where the backend is no folder here: by what it exports and imports."""
    if error := Interrupted(updates_of_service(stack)).refusal(stack.name):
        raise error
    if not replaces:
        _damage_of(stack)
        return _from_cluster(stack, progress)
    with emptied_state(stack) as kept:
        if kept is not None:
            progress.note(f"it was to be replaced: the old state is kept as {kept}")
        return _from_cluster(stack, progress)


def _from_cluster(stack: Stack, progress: Progress) -> _Rebuilt:
    stack.init_if_absent()
    progress.step("planning the program, then reading what the cluster has of it")
    draft, found = rebuild(stack)
    return _Rebuilt(CLUSTER, draft.left_out, found)


def _damage_of(stack: Stack) -> str:
    """What is wrong with a state that cannot be used; empty where there is none.

    Raises:
        InputError: there is one that can be used.
    """
    try:
        if stack.files is not None:
            stack.files.pending()
        there = _objects_in(stack.export())
    except EngineError as error:
        if error.exit_code is ExitCode.NO_STACK:
            return ""
        if stack.files is None:
            offer_copy(error, stack)
        if error.exit_code is not ExitCode.ERROR or stack.files is None:
            raise
        return error.message
    if not there:
        return ""
    name = stack.name
    raise InputError(
        f"stack {name} has a state, of {there} objects",
        remedy=f"after an interrupted update run 'holdfast up -s {name} --recover'; to rebuild the "
        "state all the same, add --replace",
    )


def _objects_in(deployment: Deployment) -> int:
    return sum(1 for each in deployment.resources if each.kubernetes_object() is not None)
