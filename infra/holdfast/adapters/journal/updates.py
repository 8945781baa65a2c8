"""The updates of one stack, from two sources: the engine's history and the journal beside it.

The engine's history is the truth about what was done. The journal adds what never reached the
engine (a refusal) and what it does not keep (why it failed, which agents moved).

The order never compares two texts: the engine counts its updates; the journal's lines stand in the
order in which they were written; an update that both know ties the two together. A clock decides
only what these leave open, and a time in whole seconds is the whole second: 09:00:14Z is not before
09:00:14.2Z.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.journal.journal import Journal, JournalKind, journal_file

UPDATE_VERSION: Final = "holdfast.dev/journal/update/v1"
OLD_UPDATE_VERSION: Final = "holdfast.dev/updates/v1"


class _JournalLine(msgspec.Struct, rename="camel"):
    schema_version: str
    update: UpdateRecord


@dataclass(frozen=True)
class UpdateJournal:
    """The file that holds what the engine does not."""

    file: Path

    @classmethod
    def of(cls, state_folder: Path, project: str, stack: str) -> "UpdateJournal":
        """The journal of a stack."""
        return cls(journal_file(state_folder, project, stack, JournalKind.UPDATES))

    def add(self, record: UpdateRecord) -> None:
        """Add one record.

        Raises:
            JournalError: the file cannot be written.
        """
        with Journal(self.file).appending() as writer:
            writer.append(msgspec.json.encode(_JournalLine(UPDATE_VERSION, record)))

    def records(self) -> list[UpdateRecord]:
        """Every record; lines that a crash has torn, or that a newer version wrote, are left out.

        Raises:
            JournalError: the file cannot be read.
        """
        found = []
        for text in Journal(self.file).lines():
            try:
                line = msgspec.json.decode(text, type=_JournalLine)
            except msgspec.DecodeError:
                continue
            if line.schema_version in (UPDATE_VERSION, OLD_UPDATE_VERSION):
                found.append(line.update)
        return found


_WHOLE_SECOND = timedelta(seconds=1)


@dataclass
class _Entry:
    """One update.

    Attributes:
        line: Number of its first line in the journal; None for what the engine alone knows.
    """

    record: UpdateRecord
    line: int | None = None


def joined(engine: Iterable[UpdateRecord], journal: Iterable[UpdateRecord]) -> list[UpdateRecord]:
    """One record an update, oldest first.

    Law: every record of either side is in it, those of one identifier as one; where both know a
    fact, the journal's word holds, for it was written later.

    Args:
        engine: In the engine's order.
        journal: In the order in which they were written.
    """
    by_identifier: dict[str, _Entry] = {}
    done: list[_Entry] = []
    for record in engine:
        _add(_Entry(record), by_identifier, done)
    only_in_journal: list[_Entry] = []
    for line, record in enumerate(journal):
        _add(_Entry(record, line), by_identifier, only_in_journal)
    return [entry.record for entry in _merged(done, only_in_journal)]


def _add(entry: _Entry, by_identifier: dict[str, _Entry], order: list[_Entry]) -> None:
    """Take a record: a new entry at the end of an order, or more about a known one."""
    identifier = entry.record.identifier
    known = by_identifier.get(identifier) if identifier else None
    if known is None:
        by_identifier[identifier] = entry
        order.append(entry)
        return
    known.record = _with_later(known.record, entry.record)
    known.line = entry.line if known.line is None else known.line


def _with_later(known: UpdateRecord, later: UpdateRecord) -> UpdateRecord:
    """The later word, with what it leaves out from the earlier one, and the earlier start."""
    empty = {name for name in UpdateRecord.__struct_fields__ if not getattr(later, name)}
    kept = {name: getattr(known, name) for name in empty if name != "agents" or known.agents}
    starts = [each for each in (known.started_at, later.started_at) if each]
    started_at = min(starts, key=_earliest, default="")
    return msgspec.structs.replace(later, **(kept | {"started_at": started_at}))


def _merged(done: Sequence[_Entry], only_in_journal: Sequence[_Entry]) -> list[_Entry]:
    """The engine's entries in their order, with the journal's own at their places between them."""
    written = sorted((one.line, at) for at, one in enumerate(done) if one.line is not None)
    merged: list[_Entry] = []
    taken = passed = 0
    for entry in only_in_journal:
        assert entry.line is not None  # noqa: S101  (the journal has numbered it)
        until = taken
        while passed < len(written) and written[passed][0] < entry.line:
            until = max(until, written[passed][1] + 1)
            passed += 1
        while until < len(done) and _comes_first(done[until], entry):
            until += 1
        merged += [*done[taken:until], entry]
        taken = until
    return [*merged, *done[taken:]]


def _comes_first(next_done: _Entry, entry: _Entry) -> bool:
    """Whether the engine's next entry, which no earlier line names, precedes the journal's own."""
    return next_done.line is None and not _is_before(entry.record, next_done.record)


def _is_before(one: UpdateRecord, other: UpdateRecord) -> bool:
    """Whether one began before the other for certain, as far as their clocks are exact."""
    _, latest = _bounds(one.started_at)
    earliest, _ = _bounds(other.started_at)
    return latest is not None and earliest is not None and latest <= earliest


def _bounds(text: str) -> tuple[datetime | None, datetime | None]:
    """The first moment that a time may mean, and the one after the last."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None, None
    if moment.tzinfo is None:
        return None, None
    return moment, moment if "." in text else moment + _WHOLE_SECOND


def _earliest(text: str) -> float:
    moment, _ = _bounds(text)
    return moment.timestamp() if moment else float("inf")
