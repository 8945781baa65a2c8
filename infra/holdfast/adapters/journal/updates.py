"""The updates of one stack: what the engine recorded, and what it could not know.

The engine's history is the truth about what was done. A journal beside the drift scans adds what
never reached the engine (a refusal) and what it does not keep (why it failed, which agents moved).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.journal.journal import Journal
from holdfast.adapters.journal.names import JournalKind, journal_file

UPDATE_VERSION: Final = "holdfast.dev/journal/update/v1"
OLD_UPDATE_VERSION: Final = "holdfast.dev/updates/v1"


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
        return cls(journal_file(state_folder, project, stack, JournalKind.UPDATES))

    def add(self, record: UpdateRecord) -> None:
        """Add one record.

        Raises:
            JournalError: the file cannot be written.
        """
        with Journal(self.file).appending() as writer:
            writer.append(msgspec.json.encode(_Line(UPDATE_VERSION, record)))

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
            if line.schema_version in (UPDATE_VERSION, OLD_UPDATE_VERSION):
                found.append(line.update)
        return found
