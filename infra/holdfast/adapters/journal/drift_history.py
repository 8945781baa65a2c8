"""The scans of one stack over time, as lines of its journal.

A line holds a whole report in the words of `holdfast.dev/drift/v1`; one that says the same as an
earlier line holds only its digest, so that a quiet stack costs a hundred bytes a scan. Values are
masked before they come here.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.adapters.journal.configurations import Configurations, Kept
from holdfast.adapters.journal.journal import Journal
from holdfast.drift.finding import DriftReport
from holdfast.drift.record.sightings import Observation
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject, canonical_json
from holdfast.kube.timestamps import parse_timestamp
from holdfast.report.documents.drift_document import report_of
from holdfast.report.documents.drift_json import drift_document

SCHEMA_VERSION: Final = "holdfast.dev/drift-history/v1"


class _Line(msgspec.Struct, rename="camel", omit_defaults=True):
    schema_version: str
    observed_at: str
    digest: str
    objects_checked: int | None = None
    report: dict[str, Any] | None = None
    declared: Kept = msgspec.field(default_factory=Kept)


@dataclass(frozen=True)
class Recorded:
    """What a journal holds.

    Attributes:
        observations: Every scan, in the order in which they were written.
        damaged_lines: Numbers of lines that are no scan, or refer to one that is lost.
        digests: Of the reports that stand in the journal in full.
        configurations: What was declared when the scans were made.
    """

    observations: tuple[Observation, ...] = ()
    damaged_lines: tuple[int, ...] = ()
    digests: frozenset[str] = field(default=frozenset(), repr=False)
    configurations: Configurations = field(default_factory=Configurations, repr=False)


def history_file(state_folder: Path, project: str, stack: str) -> Path:
    """Where the history of a stack is kept unless the user names another file."""
    return state_folder / "history" / project / f"{stack}.jsonl"


def read_history(file: Path) -> Recorded:
    """Every scan that a file holds; empty when there is none yet.

    Raises:
        JournalError: the file cannot be read.
    """
    return _recorded(Journal(file).lines())


def record_scan(
    file: Path, observed_at: str, report: DriftReport, declared: Sequence[KubeObject] = ()
) -> Recorded:
    """Add a scan to a history; gives the whole of it, the new scan included.

    Args:
        file: The history.
        observed_at: Time of the scan, RFC 3339.
        report: What it said.
        declared: What was declared then; empty to leave that out.

    Raises:
        JournalError: the file cannot be read or written.
    """
    document = drift_document(report)
    digest = hashlib.sha256(canonical_json(document)).hexdigest()[:16]
    journal = Journal(file)
    with journal.appending() as writer:
        before = _recorded(journal.lines())
        line = _Line(SCHEMA_VERSION, observed_at, digest, report.objects_checked)
        if digest not in before.digests:
            line.report = document
        line.declared = before.configurations.line_for(declared)
        writer.append(msgspec.json.encode(line))
    return Recorded(
        (*before.observations, Observation(observed_at, report, line.declared.configuration)),
        before.damaged_lines,
        before.digests | {digest},
        before.configurations,
    )


def _recorded(lines: Iterable[bytes]) -> Recorded:
    reports: dict[str, DriftReport] = {}
    observations: list[Observation] = []
    damaged: list[int] = []
    configurations = Configurations()
    for number, text in enumerate(lines, 1):
        try:
            observations.append(_observation(text, reports, configurations))
        except (msgspec.DecodeError, InputError, KeyError, ValueError):
            damaged.append(number)
    return Recorded(tuple(observations), tuple(damaged), frozenset(reports), configurations)


def _observation(
    text: bytes, reports: dict[str, DriftReport], configurations: Configurations
) -> Observation:
    line = msgspec.json.decode(text, type=_Line)
    if line.schema_version != SCHEMA_VERSION:
        message = f"unknown version {line.schema_version!r}"
        raise ValueError(message)
    parse_timestamp(line.observed_at)
    if line.report is not None:
        reports[line.digest] = report_of(line.report, "history", line.objects_checked)
    configurations.take(line.declared)
    return Observation(line.observed_at, reports[line.digest], line.declared.configuration)
