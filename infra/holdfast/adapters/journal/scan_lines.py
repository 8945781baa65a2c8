"""The lines of a scan journal: a scan each, and a summary where older lines were thinned out.

A scan's line holds its whole report; one that says the same as an earlier line holds only its
digest, so that a quiet stack costs a hundred bytes a scan. Lines of earlier versions are read.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import msgspec

from holdfast.adapters.journal.snapshots import DeclarationSnapshots, SnapshotEntry
from holdfast.adapters.journal.stored_report import (
    StoredFinding,
    StoredReport,
    finding_of,
    report_of,
    stored_finding,
)
from holdfast.drift.finding import DriftReport
from holdfast.drift.record.finding_history import FindingHistories, Observation, Track, finding_key
from holdfast.kube.objects import canonical_json
from holdfast.kube.scalars import parse_timestamp

SCAN_VERSION: Final = "holdfast.dev/journal/scan/v1"
SUMMARY_VERSION: Final = "holdfast.dev/journal/summary/v1"
OLD_SCAN_VERSION: Final = "holdfast.dev/drift-history/v1"
NO_REPORT: Final = msgspec.Raw()
_HEX_DIGITS: Final = 16


class ScanLine(msgspec.Struct, rename="camel", omit_defaults=True):
    """One scan.

    Attributes:
        observed_at: RFC 3339.
        digest: Of the report.
        report: Empty where an earlier line holds the report of this digest.
    """

    schema_version: str
    observed_at: str
    digest: str
    objects_checked: int | None = None
    report: msgspec.Raw = NO_REPORT
    declared: SnapshotEntry = msgspec.field(default_factory=SnapshotEntry)


class StoredTrack(msgspec.Struct, rename="camel", omit_defaults=True):
    """What is known of one finding over time."""

    finding: StoredFinding
    first_seen: str
    since: str
    last_seen: str
    count: int
    is_open: bool = msgspec.field(default=True, name="open")


class StoredBook(msgspec.Struct, rename="camel"):
    """What all scans so far have seen."""

    scans: int
    latest: str
    tracks: list[StoredTrack]
    low: list[str]


class SummaryLine(msgspec.Struct, rename="camel"):
    """Stands for every scan before it, of which only some have lines of their own."""

    schema_version: str
    book: StoredBook


class _AnyLine(msgspec.Struct, rename="camel"):
    schema_version: str


@dataclass(frozen=True)
class BrokenLine:
    """A line that is none of ours, or that a crash has torn.

    Attributes:
        is_foreign: It is well formed, of a version that this one does not know.
    """

    text: bytes
    is_foreign: bool


JournalLine = ScanLine | SummaryLine | BrokenLine


def lines_of(texts: Iterable[bytes]) -> Iterator[JournalLine]:
    """Each line, decoded as far as its frame."""
    for text in texts:
        try:
            version = msgspec.json.decode(text, type=_AnyLine).schema_version
            if version in (SCAN_VERSION, OLD_SCAN_VERSION):
                yield msgspec.json.decode(text, type=ScanLine)
            elif version == SUMMARY_VERSION:
                yield msgspec.json.decode(text, type=SummaryLine)
            else:
                yield BrokenLine(text, is_foreign=True)
        except (msgspec.DecodeError, UnicodeDecodeError):
            yield BrokenLine(text, is_foreign=False)


def was_made_after(line: JournalLine, moment: datetime) -> bool:
    """Whether a line is a scan that was made after a moment, as its own clock says."""
    if not isinstance(line, ScanLine):
        return False
    try:
        return parse_timestamp(line.observed_at) > moment
    except ValueError:
        return False


def digest_of(report: StoredReport) -> str:
    """What two reports that say the same have in common."""
    return hashlib.sha256(canonical_json(report)).hexdigest()[:_HEX_DIGITS]


def stored_book(book: FindingHistories) -> StoredBook:
    """A book as it is stored."""
    tracks = [
        StoredTrack(
            stored_finding(each.finding),
            each.first_seen,
            each.since,
            each.last_seen,
            each.count,
            each.is_open,
        )
        for each in book.tracks.values()
    ]
    return StoredBook(book.scans, book.latest, tracks, sorted(book.low))


def encoded_summary(book: FindingHistories) -> bytes:
    """The line that stands for every scan before it."""
    return msgspec.json.encode(SummaryLine(SUMMARY_VERSION, stored_book(book)))


def book_of(stored: StoredBook) -> FindingHistories:
    """The book that was stored.

    Raises:
        ValueError: something in it is none of what it should be.
    """
    parse_timestamp(stored.latest)
    tracks = (
        Track(
            finding_of(each.finding),
            each.first_seen,
            each.since,
            each.last_seen,
            each.count,
            each.is_open,
        )
        for each in stored.tracks
    )
    by_key = {finding_key(each.finding): each for each in tracks}
    return FindingHistories(stored.scans, stored.latest, by_key, set(stored.low))


@dataclass
class ScanReader:
    """Reads the lines of a journal in order, and keeps what later ones refer to.

    Attributes:
        book: What all lines so far have seen.
        reports: Every report by its digest.
        configurations: What was declared when the scans were made.
        configuration: Of the last scan that names one.
        detail_since: Time of the first scan behind the last summary; empty when there is none.
        damaged_lines: Numbers of lines that are no scan, or refer to one that is lost.
    """

    book: FindingHistories = field(default_factory=FindingHistories)
    reports: dict[str, DriftReport] = field(default_factory=dict)
    configurations: DeclarationSnapshots = field(default_factory=DeclarationSnapshots)
    configuration: str = ""
    detail_since: str = ""
    damaged_lines: list[int] = field(default_factory=list)
    _number: int = 0

    def read(self, line: JournalLine) -> Observation | None:
        """Take the next line; gives its scan, at a time that never goes back."""
        self._number += 1
        try:
            if isinstance(line, ScanLine):
                return self._scan(line)
            if isinstance(line, SummaryLine):
                self.book, self.detail_since = book_of(line.book), ""
            else:
                self.damaged_lines.append(self._number)
        except (msgspec.DecodeError, KeyError, ValueError):
            self.damaged_lines.append(self._number)
        return None

    def _scan(self, line: ScanLine) -> Observation:
        parse_timestamp(line.observed_at)
        if line.report:
            stored = msgspec.json.decode(line.report, type=StoredReport)
            self.reports[line.digest] = report_of(stored, line.objects_checked)
        self.configurations.take(line.declared)
        report = self.reports[line.digest]
        if report.objects_checked != line.objects_checked:
            report = replace(report, objects_checked=line.objects_checked)
        observation = Observation(line.observed_at, report, line.declared.configuration)
        self.configuration = observation.configuration or self.configuration
        self.book.see(observation)
        self.detail_since = self.detail_since or self.book.latest
        return replace(observation, observed_at=self.book.latest)
