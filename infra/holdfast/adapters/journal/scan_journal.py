"""The scans of one stack over time: recorded one by one, read as a whole or as of a moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from holdfast.adapters.journal.journal import Covered, Journal, JournalWriter
from holdfast.adapters.journal.retention import border, forget, thinned
from holdfast.adapters.journal.scan_index import MOST_REPORTS, ScanIndex, load_index, save_index
from holdfast.adapters.journal.scan_lines import (
    NO_REPORT,
    SCAN_VERSION,
    ScanLine,
    ScanReader,
    digest_of,
    lines_of,
    was_made_after,
)
from holdfast.adapters.journal.snapshots import DeclarationSnapshots
from holdfast.adapters.journal.stored_report import stored_report
from holdfast.drift.finding import DriftReport
from holdfast.drift.record.finding_history import FindingHistories, FindingHistory, Observation
from holdfast.kube.objects import KubeObject
from holdfast.kube.scalars import parse_timestamp


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
