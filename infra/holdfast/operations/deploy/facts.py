"""Who updates, for which pull request, from which files; and where all of that is kept. Wiring."""

import os
import re
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.backend.lock_holder import caller_name
from holdfast.adapters.engine.folders import state_directory
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.state.baseline import state_files
from holdfast.adapters.engine.state.history import History
from holdfast.adapters.engine.update_record import DONE, UpdateRecord, record_of
from holdfast.adapters.git.source import Source
from holdfast.adapters.journal.update_order import joined
from holdfast.adapters.journal.updates import UpdateJournal
from holdfast.errors import InputError

_MOST_FILES_NAMED = 5
_PULL_REQUEST_VARIABLES = ("HOLDFAST_PULL_REQUEST", "CI_MERGE_REQUEST_IID")
_OPERATOR_VARIABLES = ("HOLDFAST_OPERATOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN")
_GITHUB_PULL = re.compile(r"refs/pull/(\d+)/")


def operator() -> str:
    """Who, or what, does this: as the environment says, else the user and machine."""
    named = next((os.environ[name] for name in _OPERATOR_VARIABLES if os.environ.get(name)), "")
    return named or f"{caller_name()}@{socket.gethostname()}"


def pull_request() -> str:
    """The pull request that this runs for, as the environment says; empty for none."""
    for name in _PULL_REQUEST_VARIABLES:
        if os.environ.get(name):
            return os.environ[name]
    found = _GITHUB_PULL.match(os.environ.get("GITHUB_REF", ""))
    return found[1] if found else ""


def refuse_uncommitted(source: Source | None, dirty_reason: str) -> None:
    """Refuse files that are those of no commit, unless somebody says why.

    Raises:
        InputError: nobody does.
    """
    if dirty_reason or (source is not None and not source.is_dirty):
        return
    remedy = "commit them, or say why not with --allow-dirty REASON"
    if source is None:
        raise InputError("the project's files are in no commit", remedy=remedy)
    names = ", ".join(source.changed[:_MOST_FILES_NAMED])
    names += ", ..." if len(source.changed) > _MOST_FILES_NAMED else ""
    raise InputError(
        f"the project's files are not as committed in {source.commit.short}: {names}",
        remedy=remedy,
    )


def day_two_record(action: str, stack: str, reason: str) -> UpdateRecord:
    """The record of a named action that is no update."""
    return UpdateRecord(
        identifier=secrets.token_hex(6),
        action=action,
        stack=stack,
        outcome=DONE,
        operator=operator(),
        reason=reason,
        started_at=utc_now(),
        agents=(),
    )


def journal_of(project_root: Path, stack: str) -> UpdateJournal:
    """Where that is kept of a stack's updates which the engine does not keep."""
    return UpdateJournal.of(state_directory(), read_project(project_root).name, stack)


def update_records(project_root: Path, stack: str) -> list[UpdateRecord]:
    """Every update of a stack that is known of, oldest first.

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
    if files is not None:
        return files
    from holdfast.adapters.engine.backend.remote_backend import RemoteHistory  # noqa: PLC0415  (as above)
    from holdfast.operations.stack.context import StackContext  # noqa: PLC0415  (as above)

    return RemoteHistory(StackContext(project_root, stack).engine())


def _recorded(history: History, stack: str) -> Iterator[UpdateRecord]:
    for position in range(len(history.saved_seconds)):
        record = record_of(history.change(position), stack)
        if record is not None:
            yield record
