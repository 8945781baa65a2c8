"""What is known beside a scan: where things are declared. Wiring."""

from holdfast.cli.drift_sources import DriftSources
from holdfast.cli.report_output import ReportRequest
from holdfast.report.drift_context import DriftContext


def drift_context(sources: DriftSources, wanted: ReportRequest) -> DriftContext:
    """What the reports of a scan say besides its findings."""
    return DriftContext(
        stack=sources.request.stack,
        runbook=wanted.runbook,
        location_of=sources.desired.place_of,
    )
