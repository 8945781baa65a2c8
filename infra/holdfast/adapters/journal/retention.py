"""How long scans are kept: all of them for a month, then the last of each day. Pure.

Nothing that is open is forgotten: a summary at the border says since when each finding stands and
how often it was seen, so that the scans behind it need not be counted again.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec

from holdfast.adapters.journal.scan_lines import (
    NO_REPORT,
    SCAN_VERSION,
    BrokenLine,
    JournalLine,
    ScanLine,
    ScanReader,
    SummaryLine,
    encoded_summary,
    was_made_after,
)
from holdfast.adapters.journal.snapshots import DeclarationSnapshots, SnapshotWriter
from holdfast.adapters.journal.stored_report import StoredReport
from holdfast.drift.record.finding_history import FindingHistories
from holdfast.kube.scalars import parse_timestamp

DETAIL: Final = timedelta(days=30)
"""Scans that are younger are all kept; a finding is forgotten so long after it was closed."""

THINNED_EVERY: Final = timedelta(days=7)
"""Older ones wait at most so long until they are thinned out: most scans rewrite nothing."""


def border(detail_since: str, now: datetime) -> datetime | None:
    """The moment before which scans are to be thinned out; None while that is not due.

    Args:
        detail_since: Time of the oldest scan after the last thinning.
        now: Time of the newest scan.
    """
    if not detail_since or now - parse_timestamp(detail_since) <= DETAIL + THINNED_EVERY:
        return None
    oldest_day = (now - DETAIL).astimezone(UTC)
    return oldest_day.replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass
class Thinned:
    """The lines of a journal of which none refers to one that is no more.

    Attributes:
        reports: Digests of the reports that they hold, in order.
        declarations: What they hold of declarations.
    """

    lines: list[bytes] = field(default_factory=list)
    reports: dict[str, None] = field(default_factory=dict)
    declarations: SnapshotWriter = field(default_factory=SnapshotWriter)

    def add(
        self, line: ScanLine, reports: "_Reports", configurations: DeclarationSnapshots
    ) -> None:
        """Add a scan; its report and declaration are written where no line holds them yet."""
        is_written = line.digest in self.reports
        self.reports[line.digest] = None
        written = ScanLine(
            SCAN_VERSION,
            line.observed_at,
            line.digest,
            line.objects_checked,
            NO_REPORT if is_written else reports.of(line.digest),
            self.declarations.without_known(configurations.whole(line.declared.configuration)),
        )
        self.lines.append(msgspec.json.encode(written))


def thinned(lines: Sequence[JournalLine], before: datetime) -> Thinned:
    """The lines of a journal, of older scans the last of each day alone.

    Laws: scans that are not older are all there, in order, with their reports and declarations;
    what the whole has seen, read again, is the same but for what was closed long ago. Lines of a
    version that this one does not know stay.

    Args:
        lines: All of them, in order.
        before: Scans that are older are thinned out.
    """
    reader, reports, kept = ScanReader(), _Reports(), Thinned()
    cut = next((at for at, line in enumerate(lines) if was_made_after(line, before)), len(lines))
    last_of_day: dict[date, ScanLine] = {}
    for line in lines[:cut]:
        reports.take(line)
        observation = reader.read(line)
        if isinstance(line, BrokenLine) and line.is_foreign:
            kept.lines.append(line.text)
        elif observation is not None and isinstance(line, ScanLine):
            last_of_day[parse_timestamp(observation.observed_at).astimezone(UTC).date()] = line
    for line in last_of_day.values():
        kept.add(line, reports, reader.configurations)
    if reader.book.scans:
        forget(reader.book)
        kept.lines.append(encoded_summary(reader.book))
    for line in lines[cut:]:
        if isinstance(line, ScanLine):
            reports.take(line)
            reader.configurations.take(line.declared)
            kept.add(line, reports, reader.configurations)
        elif isinstance(line, SummaryLine):
            kept.lines.append(msgspec.json.encode(line))
        elif line.is_foreign:
            kept.lines.append(line.text)
    return kept


def forget(book: FindingHistories) -> None:
    """Forget what was closed before all that is kept in full."""
    if book.latest:
        book.forget_closed(parse_timestamp(book.latest) - DETAIL)


@dataclass
class _Reports:
    """The reports of a journal as they are stored today, by digest."""

    _by_digest: dict[str, msgspec.Raw] = field(default_factory=dict)

    def take(self, line: JournalLine) -> None:
        """Keep the report that a line holds."""
        if isinstance(line, ScanLine) and line.report:
            with suppress(msgspec.DecodeError):
                stored = msgspec.json.decode(line.report, type=StoredReport)
                self._by_digest[line.digest] = msgspec.Raw(msgspec.json.encode(stored))

    def of(self, digest: str) -> msgspec.Raw:
        """The report of a digest."""
        return self._by_digest.get(digest, NO_REPORT)
