"""The updates of one stack: what the engine recorded, and what it could not know.

The engine's history is the truth about what was done. A journal beside the drift scans adds what
never reached the engine (a refusal) and what it does not keep (why it failed, which agents moved).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.journal.journal import Journal

SCHEMA_VERSION: Final = "holdfast.dev/updates/v1"


class _Line(msgspec.Struct, rename="camel"):
    schema_version: str
    update: UpdateRecord


@dataclass(frozen=True)
class UpdateJournal:
    """The file that holds what the engine does not."""

    file: Path

    @classmethod
    def of(cls, state_folder: Path, project: str, stack: str) -> "UpdateJournal":
        """The journal of a stack."""
        name = stack.rpartition("/")[2]
        return cls(state_folder / "history" / project / f"{name}.updates.jsonl")

    def add(self, record: UpdateRecord) -> None:
        """Add one record.

        Raises:
            JournalError: the file cannot be written.
        """
        with Journal(self.file).appending() as writer:
            writer.append(msgspec.json.encode(_Line(SCHEMA_VERSION, record)))

    def records(self) -> list[UpdateRecord]:
        """Every record; lines that a crash has torn, or that a newer version wrote, are left out.

        Raises:
            JournalError: the file cannot be read.
        """
        found = []
        for text in Journal(self.file).lines():
            try:
                line = msgspec.json.decode(text, type=_Line)
            except msgspec.DecodeError:
                continue
            if line.schema_version == SCHEMA_VERSION:
                found.append(line.update)
        return found


def joined(engine: Iterable[UpdateRecord], journal: Iterable[UpdateRecord]) -> list[UpdateRecord]:
    """One record an update, oldest first.

    Law: every record of either side is in it, those of one identifier as one; where both know a
    fact, the journal's word holds, for it was written later.
    """
    by_identifier: dict[str, UpdateRecord] = {}
    nameless: list[UpdateRecord] = []
    for record in (*engine, *journal):
        known = by_identifier.get(record.identifier)
        if not record.identifier:
            nameless.append(record)
        elif known is None:
            by_identifier[record.identifier] = record
        else:
            by_identifier[record.identifier] = _later(known, record)
    return sorted((*nameless, *by_identifier.values()), key=lambda each: each.started_at)


def _later(known: UpdateRecord, later: UpdateRecord) -> UpdateRecord:
    """The later word, with what it leaves out from the earlier one."""
    empty = {name for name in UpdateRecord.__struct_fields__ if not getattr(later, name)}
    kept = {name: getattr(known, name) for name in empty if name != "agents" or known.agents}
    started_at = min(filter(None, (known.started_at, later.started_at)), default="")
    return msgspec.structs.replace(later, **(kept | {"started_at": started_at}))
