"""What a scan must know of all scans before it, in one small file beside their journal.

The journal is the truth: an index that is missing, damaged or of another journal is made from it.
With it, recording a scan reads what is open and was lately closed, not what was ever recorded.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from holdfast.adapters.files.atomic_write import write_atomically
from holdfast.adapters.journal.journal import FILE_MODE, Covered
from holdfast.adapters.journal.scan_lines import ScanReader, StoredBook, book_of, stored_book
from holdfast.adapters.journal.snapshots import SnapshotWriter
from holdfast.drift.record.finding_history import FindingHistories

INDEX_VERSION: Final = "holdfast.dev/journal/scan-index/v1"
MOST_REPORTS: Final = 64
"""So many reports are known to be written; one that comes back later is written once more."""


@dataclass
class ScanIndex:
    """What is known of all scans so far.

    Attributes:
        book: What they have seen.
        reports: Digests of reports that the journal holds, the newest last.
        declarations: What the journal holds of declarations.
        detail_since: Time of the first scan after the journal was last thinned out.
    """

    book: FindingHistories = field(default_factory=FindingHistories)
    reports: list[str] = field(default_factory=list)
    declarations: SnapshotWriter = field(default_factory=SnapshotWriter)
    detail_since: str = ""

    @classmethod
    def of_reader(cls, reader: ScanReader) -> "ScanIndex":
        """Of a journal that was read whole."""
        members = reader.configurations.members(reader.configuration)
        return cls(
            reader.book,
            list(reader.reports)[-MOST_REPORTS:],
            SnapshotWriter(reader.configuration if members else "", members),
            reader.detail_since,
        )

    def note_report(self, digest: str) -> bool:
        """Note that a report is written; whether it was before."""
        is_known = digest in self.reports
        if is_known:
            self.reports.remove(digest)
        self.reports = [*self.reports, digest][-MOST_REPORTS:]
        return is_known


class _Stored(msgspec.Struct, rename="camel"):
    schema_version: str
    covered: Covered
    book: StoredBook
    reports: list[str]
    configuration: str
    members: list[str]
    detail_since: str


def index_file(journal: Path) -> Path:
    """The index of a journal."""
    return journal.with_name(f"{journal.name}.index")


def load_index(journal: Path, covered: Covered) -> ScanIndex | None:
    """The index of a journal's content; None when there is none of just this content."""
    try:
        stored = msgspec.json.decode(index_file(journal).read_bytes(), type=_Stored)
        if stored.schema_version != INDEX_VERSION or stored.covered != covered:
            return None
        return ScanIndex(
            book_of(stored.book),
            stored.reports,
            SnapshotWriter(stored.configuration, stored.members),
            stored.detail_since,
        )
    except (OSError, msgspec.DecodeError, ValueError):
        return None


def save_index(journal: Path, covered: Covered, index: ScanIndex) -> None:
    """Write the index; where that cannot be done, the journal is read whole the next time."""
    stored = _Stored(
        INDEX_VERSION,
        covered,
        stored_book(index.book),
        index.reports,
        index.declarations.configuration,
        index.declarations.members,
        index.detail_since,
    )
    with suppress(OSError):
        write_atomically(
            index_file(journal), msgspec.json.encode(stored), mode=FILE_MODE, is_durable=False
        )
