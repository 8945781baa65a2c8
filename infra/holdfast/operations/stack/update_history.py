"""The updates and actions of a stack: who runs them, from which commit, and what was recorded."""

import os
import re
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.backend.lock_holder import caller_name
from holdfast.adapters.engine.backend.remote_backend import RemoteHistory
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.state.baseline import state_files
from holdfast.adapters.engine.state.history import History
from holdfast.adapters.engine.update_record import DONE, UpdateRecord, record_of
from holdfast.adapters.files import state_directory
from holdfast.adapters.git.source import source_of
from holdfast.adapters.journal.updates import UpdateJournal, joined
from holdfast.errors import HoldfastError
from holdfast.operations.stack.context import StackContext

_PULL_REQUEST_VARIABLES = ("HOLDFAST_PULL_REQUEST", "CI_MERGE_REQUEST_IID")
_CALLER_VARIABLES = ("HOLDFAST_OPERATOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN")
_GITHUB_PULL = re.compile(r"refs/pull/(\d+)/")


def caller() -> str:
    """The person or the job that runs this: as the environment says, else `user@machine`."""
    named = next((os.environ[name] for name in _CALLER_VARIABLES if os.environ.get(name)), "")
    return named or f"{caller_name()}@{socket.gethostname()}"


def pull_request() -> str:
    """The pull request that this runs for; empty for none."""
    for name in _PULL_REQUEST_VARIABLES:
        if os.environ.get(name):
            return os.environ[name]
    found = _GITHUB_PULL.match(os.environ.get("GITHUB_REF", ""))
    return found[1] if found else ""


COMMIT_VARIABLE = "HOLDFAST_COMMIT"
DIRTY_VARIABLE = "HOLDFAST_DIRTY"


def commit_in_words(commit: str, *, is_dirty: bool) -> str:
    """A commit as `git describe --dirty` would end it; empty where there is none."""
    return f"{commit}-dirty" if commit and is_dirty else commit


def provenance(project_root: Path) -> tuple[str, bool]:
    """The commit of a project's files (empty without one), and whether they differ from it.

    Whoever runs the engine may have looked before it wrote to the stack's file, as it does for a
    new stack: their word holds.
    """
    if COMMIT_VARIABLE in os.environ:
        return os.environ[COMMIT_VARIABLE], os.environ.get(DIRTY_VARIABLE) == "true"
    try:
        source = source_of(project_root)
    except HoldfastError:
        # A program runs without Git, too: then nobody knows.
        source = None
    return (source.commit.name, source.is_dirty) if source else ("", True)


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
