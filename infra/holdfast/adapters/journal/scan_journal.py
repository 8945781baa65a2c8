"""The scans of one stack over time: recorded one by one, read as a whole or as of a given time.

A small index beside the journal holds what recording the next scan needs: open findings and lately
closed ones. The journal is the truth: an index that is missing, damaged or of another journal is
built from it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from holdfast.adapters.files import write_atomically
from holdfast.adapters.journal.journal import FILE_MODE, Covered, Journal, JournalWriter
from holdfast.adapters.journal.retention import border, forget, thinned
from holdfast.adapters.journal.scan_lines import (
    NO_REPORT,
    SCAN_VERSION,
    ScanLine,
    ScanReader,
    StoredBook,
    book_of,
    digest_of,
    lines_of,
    stored_book,
    was_made_after,
)
from holdfast.adapters.journal.snapshots import DeclarationSnapshots, SnapshotWriter
from holdfast.adapters.journal.stored_report import stored_report
from holdfast.drift.finding import DriftReport
from holdfast.drift.record.finding_history import FindingHistories, FindingHistory, Observation
from holdfast.kube.objects import KubeObject
from holdfast.kube.scalars import parse_timestamp

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


@dataclass(frozen=True)
class ScanHistory:
    """What a journal holds, up to a moment.

    Attributes:
        observations: The scans that it still holds, in the order in which they were written, at
            times that never go back.
        book: What all scans have seen, those included that are no longer kept.
        damaged_lines: Numbers of lines that are no scan, or refer to one that is lost.
        configurations: What was declared when the scans were made.
    """

    observations: tuple[Observation, ...] = ()
    book: FindingHistories = field(default_factory=FindingHistories)
    damaged_lines: tuple[int, ...] = ()
    configurations: DeclarationSnapshots = field(default_factory=DeclarationSnapshots, repr=False)


@dataclass(frozen=True)
class RecordedScan:
    """What a scan is when all scans before it are known.

    Attributes:
        histories: Every finding that is remembered, by its key; the scan's own included.
        low_before: How many low findings were open before it.
        low_now: How many are open with it.
        damaged_lines: As in `ScanHistory`, where the whole journal had to be read.
    """

    histories: Mapping[str, FindingHistory]
    low_before: int
    low_now: int
    damaged_lines: tuple[int, ...] = ()

    def raises_alert(self, threshold: int) -> bool:
        """Whether low findings, none of which is one alone, have become that many with it."""
        return self.low_before < threshold <= self.low_now


def read_history(file: Path, until: str = "") -> ScanHistory:
    """Every scan that a file holds; empty when there is none yet.

    Args:
        file: The journal.
        until: Scans after this moment (RFC 3339) are left out; empty for none.

    Raises:
        JournalError: the file cannot be read.
    """
    reader, observations = ScanReader(), []
    end = parse_timestamp(until) if until else None
    for line in lines_of(Journal(file).lines()):
        if end is not None and was_made_after(line, end):
            break
        observation = reader.read(line)
        if observation is not None:
            observations.append(observation)
    forget(reader.book)
    return ScanHistory(
        tuple(observations), reader.book, tuple(reader.damaged_lines), reader.configurations
    )


def read_book(file: Path) -> tuple[FindingHistories, tuple[int, ...]]:
    """What all scans of a file have seen, and the numbers of its damaged lines.

    The lines are numbered where the whole journal has to be read.

    Raises:
        JournalError: the file cannot be read.
    """
    journal = Journal(file)
    index, damaged = _index_of(journal, journal.covered())
    return index.book, damaged


def record_scan(
    file: Path, observed_at: str, report: DriftReport, declared: Sequence[KubeObject] = ()
) -> RecordedScan:
    """Add a scan to a journal, and thin out old ones when that is due.

    Args:
        file: The journal.
        observed_at: Time of the scan, RFC 3339.
        report: What it said.
        declared: What was declared then; empty to leave that out.

    Raises:
        JournalError: the file cannot be read or written.
        ValueError: the time is none.
    """
    stored = stored_report(report)
    digest = digest_of(stored)
    journal = Journal(file)
    with journal.appending() as writer:
        index, damaged = _index_of(journal, writer.covered())
        latest, low_before = index.book.latest, len(index.book.low)
        index.book.see(Observation(observed_at, report))
        index.detail_since = index.detail_since or index.book.latest
        is_written = index.note_report(digest)
        line = ScanLine(
            SCAN_VERSION,
            observed_at,
            digest,
            report.objects_checked,
            NO_REPORT if is_written else msgspec.Raw(msgspec.json.encode(stored)),
            index.declarations.entry_for(declared),
        )
        writer.append(msgspec.json.encode(line))
        forget(index.book)
        if writer.is_file:
            # By the earlier of two clocks: one scan that is dated wrongly thins out nothing.
            now = min(parse_timestamp(latest or observed_at), parse_timestamp(observed_at))
            save_index(file, _thin_out(journal, writer, index, now), index)
    low_now = len(index.book.low)
    return RecordedScan(index.book.by_key(), low_before, low_now, damaged)


def _thin_out(journal: Journal, writer: JournalWriter, index: ScanIndex, now: datetime) -> Covered:
    """Thin out old scans when that is due; gives what the journal's content is then."""
    before = border(index.detail_since, now)
    if before is None:
        return writer.covered()
    kept = thinned(list(lines_of(journal.lines())), before)
    index.detail_since = before.isoformat()
    index.reports, index.declarations = list(kept.reports)[-MOST_REPORTS:], kept.declarations
    return Covered.of(writer.replace(kept.lines))


def _index_of(journal: Journal, covered: Covered) -> tuple[ScanIndex, tuple[int, ...]]:
    """The index of a journal, and its damaged lines where it was made from the whole."""
    index = load_index(journal.path, covered)
    if index is not None:
        return index, ()
    reader = ScanReader()
    for line in lines_of(journal.lines()):
        reader.read(line)
    forget(reader.book)
    return ScanIndex.of_reader(reader), tuple(reader.damaged_lines)
