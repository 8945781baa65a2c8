"""What is known beside a scan: where things are declared. Wiring."""

from holdfast.cli.options.report import ReportRequest
from holdfast.operations.scan.scan_context import DriftContext
from holdfast.operations.scan.sources import DriftSources


def drift_context(sources: DriftSources, wanted: ReportRequest) -> DriftContext:
    """What the reports of a scan say besides its findings."""
    return DriftContext(
        stack=sources.request.stack,
        runbook=wanted.runbook,
        location_of=sources.desired.place_of,
    )
