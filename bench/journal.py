"""The journal of scans: what recording one more costs after a year, beside after a morning."""

import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from holdfast.adapters.journal.scan_journal import record_scan
from holdfast.adapters.journal.scan_lines import (
    NO_REPORT,
    SCAN_VERSION,
    ScanLine,
    digest_of,
)
from holdfast.adapters.journal.stored_report import stored_report
from holdfast.drift.finding import DriftClass, DriftReport, Finding
from holdfast.kube.objects import ObjectRef

SCANS = 105_000
"""A year of scans, one in five minutes."""
FEW_SCANS = 100
OPEN_FINDINGS = 10
PAUSE = timedelta(minutes=5)
START = datetime(2026, 1, 1, tzinfo=UTC)
REPEATED = 30


def measure() -> dict[str, float | str]:
    """Seconds to record one scan; a journal without an index is read whole and thinned out once."""
    with tempfile.TemporaryDirectory() as folder:
        few = written(Path(folder) / "few.jsonl", FEW_SCANS)
        many = written(Path(folder) / "many.jsonl", SCANS)
        first_seconds = seconds_of(many, SCANS)
        record(few, FEW_SCANS)
        many_seconds, few_seconds = [], []
        for number in range(1, REPEATED + 1):
            many_seconds.append(seconds_of(many, SCANS + number))
            few_seconds.append(seconds_of(few, FEW_SCANS + number))
        after_many, after_few = map(statistics.median, (many_seconds, few_seconds))
    return {
        "journal, scans recorded before": float(SCANS),
        "journal, first scan without an index, s": first_seconds,
        "journal, recording one scan, s": after_many,
        "journal, longest of these, s (target < 0.1)": max(many_seconds),
        f"journal, ratio to {FEW_SCANS} scans before (target < 2)": after_many / after_few,
    }


def report() -> DriftReport:
    """What every scan says."""
    findings = (
        Finding(
            ObjectRef("bench", "ConfigMap", f"agent-{number}", "v1"),
            f"agent-{number}",
            DriftClass.CHANGED,
            ("data", "level"),
            "info",
            "debug",
        )
        for number in range(OPEN_FINDINGS)
    )
    return DriftReport(tuple(findings), objects_checked=OPEN_FINDINGS)


def moment(number: int) -> str:
    """Time of a scan."""
    return (START + PAUSE * number).isoformat()


def written(file: Path, scans: int) -> Path:
    """A journal of so many scans, as a version without an index would have left it."""
    stored = stored_report(report())
    digest, text = digest_of(stored), msgspec.Raw(msgspec.json.encode(stored))
    with file.open("wb") as journal:
        for number in range(scans):
            held = NO_REPORT if number else text
            line = ScanLine(SCAN_VERSION, moment(number), digest, OPEN_FINDINGS, held)
            journal.write(msgspec.json.encode(line) + b"\n")
    return file


def record(file: Path, number: int) -> None:
    """Record one more scan."""
    record_scan(file, moment(number), report())


def seconds_of(file: Path, number: int) -> float:
    """How long it takes to record one more scan."""
    begun = time.perf_counter()
    record(file, number)
    return time.perf_counter() - begun
