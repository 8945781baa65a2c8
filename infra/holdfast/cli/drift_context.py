"""What is known beside a scan: its time, and where things are declared. Wiring."""

from datetime import UTC, datetime

from holdfast.cli.drift_sources import DriftSources
from holdfast.cli.report_output import ReportRequest
from holdfast.report.drift_notices import DriftContext


def drift_context(sources: DriftSources, wanted: ReportRequest) -> DriftContext:
    """What the reports of a scan say besides its findings."""
    return DriftContext(
        stack=sources.request.stack,
        observed_at=now(),
        runbook=wanted.runbook,
        location_of=sources.desired.place_of,
    )


def now() -> str:
    """This moment, RFC 3339, in whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
