"""The updates and named actions of a stack: what the engine recorded, and our journal beside it."""

import secrets
from collections.abc import Iterator
from pathlib import Path

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.backend.remote_backend import RemoteHistory
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.state.baseline import state_files
from holdfast.adapters.engine.state.history import History
from holdfast.adapters.engine.update_record import DONE, UpdateRecord, record_of
from holdfast.adapters.files import state_directory
from holdfast.adapters.journal.updates import UpdateJournal, joined
from holdfast.operations.stack.caller import caller
from holdfast.operations.stack.context import StackContext


def action_record(action: str, stack: str, reason: str) -> UpdateRecord:
    """The record of a named action that is no update."""
    return UpdateRecord(
        identifier=secrets.token_hex(6),
        action=action,
        stack=stack,
        outcome=DONE,
        operator=caller(),
        reason=reason,
        started_at=utc_now(),
        agents=(),
    )


def journal_of(project_root: Path, stack: str) -> UpdateJournal:
    """Where what the engine does not keep of a stack's updates is kept."""
    return UpdateJournal.of(state_directory(), read_project(project_root).name, stack)


def update_records(project_root: Path, stack: str) -> list[UpdateRecord]:
    """Every known update of a stack, oldest first.

    Raises:
        EngineError: the backend cannot be read.
        JournalError: the journal cannot be read.
    """
    history = engine_history(project_root, stack)
    return joined(_recorded(history, stack), journal_of(project_root, stack).records())


def engine_history(project_root: Path, stack: str) -> History:
    """The engine's own history of a stack: from the files of a folder, else asked of the engine.

    Raises:
        InputError: there is no project in that folder.
    """
    files = state_files(project_root, stack)
    return files or RemoteHistory(StackContext(project_root, stack).engine())


def _recorded(history: History, stack: str) -> Iterator[UpdateRecord]:
    for position in range(len(history.saved_seconds)):
        record = record_of(history.change(position), stack)
        if record is not None:
            yield record
