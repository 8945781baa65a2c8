"""One scan of one stack, or of plain objects, from its sources to its report. Wiring."""

from dataclasses import dataclass

import click

from holdfast.adapters.tracing.spans import Span
from holdfast.cli.drift.scan_extras import ScanExtras
from holdfast.cli.drift.ways_out import WaysOut
from holdfast.cli.options.report import ReportRequest, write_reports
from holdfast.errors import ExitCode
from holdfast.operations.scan.context import drift_context
from holdfast.operations.scan.engine_check import scan_with_engine
from holdfast.operations.scan.recording import with_history
from holdfast.operations.scan.sources import DriftRequest, DriftSources, Scan


@dataclass(frozen=True)
class OneScan:
    """What is to be compared, and what is done about it.

    Attributes:
        engine: Ask Pulumi's refresh, too: about everything, never, or (None) about what drifted.
    """

    request: DriftRequest
    wanted: ReportRequest
    extras: ScanExtras
    engine: bool | None
    ways_out: WaysOut

    def run(self, span: Span) -> ExitCode:
        """Compare, act, report; returns the exit code.

        Args:
            span: Told what came of it.
        """
        sources, ways_out = DriftSources(self.request), self.ways_out
        scan = scan_with_engine(sources, wanted=False if ways_out.are_wanted else self.engine)
        scan, failures = ways_out.take(sources, scan)
        if self.extras.probing.is_on:
            from holdfast.operations.scan.probing.run import with_probes  # noqa: PLC0415  (start-up)

            scan = with_probes(sources, scan, self.extras.probing)
        self._tell(sources, scan)
        report = scan.report
        span.note(
            objects=report.objects_checked or 0,
            findings=len(report.drift),
            complete=report.is_complete,
        )
        if failures or not report.is_complete:
            return ExitCode.ERROR
        return ExitCode.DRIFT if report.drift else ExitCode.OK

    def _tell(self, sources: DriftSources, scan: Scan) -> None:
        text = self.ways_out.text(sources, scan, as_json=self.wanted.output == "json")
        if text is not None:
            click.echo(text, nl=False)
            return
        context = with_history(drift_context(sources, self.wanted), scan, self.extras.history)
        write_reports(scan.report, self.wanted, context)
