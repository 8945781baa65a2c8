"""The baseline of a stack: each live object as the last successful update recorded it.

Laws: what a refresh wrote is never in it, not even when a later update left the object alone and
so carried the refreshed record on; an object whose record cannot be trusted has no baseline, and
that is said.
"""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import msgspec

from holdfast.adapters.engine.backend.file_backend import FILE_SCHEME, FileHistory
from holdfast.adapters.engine.backend.lock_holder import LockHolder
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.run.environment import backend_in_use
from holdfast.adapters.engine.state.checkpoint import (
    Deployment,
    PendingOperation,
    RecordedObject,
    RecordedResource,
)
from holdfast.adapters.engine.state.history import Change, History, position_covering, seconds_of
from holdfast.errors import EngineError, ExitCode
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of

OLDER_CHECKPOINTS = 10
"""How many older updates are searched for an object whose newest record a refresh wrote."""


class BaselineObject(msgspec.Struct, frozen=True):
    """One live object as an update recorded it.

    Attributes:
        record: That record; read whole when its object is first asked for.
    """

    urn: str
    record: RecordedObject

    @property
    def object(self) -> KubeObject:
        """Whole object with uid, resourceVersion, managedFields and status; no secrets."""
        return self.record.live

    @property
    def field_manager(self) -> str:
        """Manager under which it was applied; empty when unknown."""
        return self.record.field_manager

    @property
    def reference(self) -> ObjectRef:
        """The object's reference."""
        return self.record.reference


class Baseline(msgspec.Struct, frozen=True):
    """What the last successful update left in the cluster.

    Attributes:
        objects: Every Kubernetes object of the stack whose record can be trusted.
        reason: Why there is no baseline at all; empty when there is one.
        updated_seconds: When that update ended, in seconds since 1970; 0 without a baseline.
        untrusted: Objects whose only record a refresh has written.
        unfinished: Objects that only an update which failed since then has deployed.
        pending: Objects in the middle of an operation that was never recorded as done.
        rewritten: Objects whose newest record a refresh wrote, each as that record has it.
        running: Runs under way, and killed ones whose lock is left.
        later_changes: Changes since that update: refreshes, failed updates.
        warnings: What the user should know about the state, such as that everybody may write it.
    """

    objects: tuple[BaselineObject, ...] = ()
    reason: str = ""
    updated_seconds: float = 0.0
    untrusted: tuple[ObjectRef, ...] = ()
    unfinished: tuple[BaselineObject, ...] = ()
    pending: tuple[ObjectRef, ...] = ()
    rewritten: tuple[KubeObject, ...] = ()
    running: tuple[LockHolder, ...] = ()
    later_changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether there is a baseline."""
        return not self.reason


class _Trust(Enum):
    UPDATE = "an update wrote the record"
    EITHER = "an update that refreshed first: it wrote the record, or only carried it on"
    REFRESH = "a refresh wrote the record, or an unknown writer"


def choose_baseline(history: History) -> Baseline:
    """Choose the baseline of a stack from its history.

    Raises:
        EngineError: a record or checkpoint cannot be read.
    """
    newest = len(history.saved_seconds) - 1
    update = next((p for p in range(newest, -1, -1) if _is_good_update(history.change(p))), None)
    if update is None:
        return Baseline(
            reason="the stack has never been updated successfully", pending=_first_pending(history)
        )
    pending = _pending(history.pending())
    later = tuple(history.change(position) for position in range(update + 1, newest + 1))
    if any(change.kind == "destroy" and not change.is_partial for change in later):
        return Baseline(
            reason="the stack has been destroyed since its last update", pending=pending
        )
    deployment = history.checkpoint(update)
    if deployment is None and update < newest:
        # A backend that gives out the newest alone: what later changes left alone is in it.
        deployment = history.checkpoint(newest)
    if deployment is None:
        return Baseline(
            reason="the checkpoint of the last successful update is gone", pending=pending
        )
    objects, untrusted = _trusted_objects(history, update, deployment)
    current = deployment if newest == update else history.checkpoint(newest)
    return Baseline(
        objects=objects,
        updated_seconds=history.saved_seconds[update],
        untrusted=untrusted,
        unfinished=tuple(_unfinished(deployment, current)),
        pending=pending,
        rewritten=tuple(_rewritten(history, current, objects)),
        later_changes=later,
    )


def _first_pending(history: History) -> tuple[ObjectRef, ...]:
    """What a first update that was killed has left; a stack need not even exist before it."""
    try:
        return _pending(history.pending())
    except EngineError as error:
        if error.exit_code is not ExitCode.NO_STACK:
            raise
        return ()


def _is_good_update(change: Change) -> bool:
    return change.kind == "update" and change.succeeded


def _trusted_objects(
    history: History, update: int, deployment: Deployment
) -> tuple[tuple[BaselineObject, ...], tuple[ObjectRef, ...]]:
    older = _OlderRecords(history, update)
    objects, untrusted = [], []
    for resource in deployment.resources:
        newest = resource.kubernetes_object()
        if newest is None:
            continue
        trusted = _trusted_record(resource, newest, older)
        if trusted is None:
            untrusted.append(newest.reference)
        else:
            objects.append(BaselineObject(resource.urn, trusted))
    return tuple(objects), tuple(untrusted)


def _trusted_record(
    resource: RecordedResource, newest: RecordedObject, older: "_OlderRecords"
) -> RecordedObject | None:
    """The record of an object that an update wrote: the newest, or an older one that still holds.

    An older record holds while the object is the same one (uid) and the program asks for the same
    (inputs): otherwise the update changed the object, and so wrote the newer record itself.
    """
    history, update = older.history, older.update
    trust = _trust(resource, history, update)
    if trust is _Trust.UPDATE:
        return newest
    for record in older.of(resource.urn):
        found = record.kubernetes_object()
        if found is None or found.uid != newest.uid or record.inputs != resource.inputs:
            break
        if _trust(record, history, update) is _Trust.UPDATE:
            return found
    return newest if trust is _Trust.EITHER and not older.are_gone else None


def _unfinished(deployment: Deployment, current: Deployment | None) -> Iterator[BaselineObject]:
    known = {resource.urn for resource in deployment.resources}
    for resource in current.resources if current is not None else ():
        recorded = resource.kubernetes_object() if resource.urn not in known else None
        if recorded is not None:
            yield BaselineObject(resource.urn, recorded)


def _rewritten(
    history: History, current: Deployment | None, trusted: tuple[BaselineObject, ...]
) -> Iterator[KubeObject]:
    """What the newest checkpoint says of objects where a refresh, not an update, wrote it."""
    newest = len(history.saved_seconds) - 1
    before = {each.urn: each for each in trusted}
    for resource in current.resources if current is not None else ():
        if resource.urn not in before or _trust(resource, history, newest) is _Trust.UPDATE:
            continue
        recorded = resource.kubernetes_object()
        if recorded is not None and recorded.live != before[resource.urn].object:
            yield recorded.live


def _trust(resource: RecordedResource, history: History, newest: int) -> _Trust:
    """Who wrote a record, as far as the changes up to the newest one that counts account for it."""
    if seconds_of(resource.modified) > history.saved_seconds[newest]:
        return _Trust.REFRESH
    if resource.created and resource.created == resource.modified:
        return _Trust.UPDATE
    position = position_covering(history, seconds_of(resource.modified))
    if position is None:
        return _Trust.REFRESH
    change = history.change(position)
    if change.kind != "update":
        return _Trust.REFRESH
    return _Trust.EITHER if change.has_refreshed else _Trust.UPDATE


class _OlderRecords:
    """Records of a resource in successful updates before one, newest first, read when asked for.

    Attributes:
        are_gone: The backend does not give them out any more, or never did.
    """

    def __init__(self, history: History, update: int) -> None:
        self.history = history
        self.update = update
        self.are_gone = False
        older = range(update - 1, -1, -1)
        self._positions = (p for p in older if _is_good_update(history.change(p)))
        self._read: list[dict[str, RecordedResource]] = []

    def of(self, urn: str) -> Iterator[RecordedResource]:
        index = 0
        while index < OLDER_CHECKPOINTS:
            if index == len(self._read) and not self._read_next():
                return
            if urn in self._read[index]:
                yield self._read[index][urn]
            index += 1

    def _read_next(self) -> bool:
        position = next(self._positions, None)
        deployment = None if position is None else self.history.checkpoint(position)
        if deployment is None:
            self.are_gone = self.are_gone or position is not None
            return False
        self._read.append({resource.urn: resource for resource in deployment.resources})
        return True


def _pending(operations: tuple[PendingOperation, ...]) -> tuple[ObjectRef, ...]:
    identities = (msgspec.json.decode(operation.resource.inputs) for operation in operations)
    return tuple(reference_of(i) for i in identities if isinstance(i, dict) and "kind" in i)


def state_files(project_root: Path, stack: str) -> FileHistory | None:
    """The stack's files; None when its backend is no folder of this machine.

    Raises:
        InputError: there is no project in that folder.
    """
    project = read_project(project_root)
    url = backend_in_use(project.backend_url)
    return FileHistory.at(url, project, stack) if url.startswith(FILE_SCHEME) else None


def read_baseline(project_root: Path, stack: str) -> Baseline:
    """Read the baseline of a stack: in milliseconds from a `file://` backend, else by the engine.

    Raises:
        InputError: there is no project in that folder.
        EngineError: there is no such stack, or its state cannot be read.
        ToolchainError: the backend needs the engine, and there is none.
    """
    files = state_files(project_root, stack)
    if files is not None:
        return msgspec.structs.replace(
            choose_baseline(files), warnings=files.warnings(), running=files.holders()
        )
    # A scan of a stack in a local backend starts no engine, and should not load it.
    from holdfast.adapters.engine.backend.remote_backend import RemoteHistory  # noqa: PLC0415  (start-up)
    from holdfast.adapters.engine.stack import open_stack  # noqa: PLC0415  (start-up)

    history = RemoteHistory(open_stack(project_root, stack))
    return msgspec.structs.replace(choose_baseline(history), running=history.running)
