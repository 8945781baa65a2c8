"""`holdfast drift ignore`: a rule that makes a finding expected, for a while."""

from datetime import datetime

import click

from holdfast.cli.drift.detect import exit_code, report
from holdfast.cli.drift.options import ComparisonOptions, compared
from holdfast.cli.options.groups import receives
from holdfast.cli.options.output import OUTPUT, TERMINAL
from holdfast.errors import ExitCode
from holdfast.operations.remediate.ignore import IgnoreRequest, plan_ignore
from holdfast.operations.scan.request import RecordingRequest
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.tracing import note_scan, traced_scan
from holdfast.report.exchange.files import ReportRequest


@click.command()
@click.argument("findings", nargs=-1, required=True, metavar="FINDING...")
@receives(compared("request_timeout"))
@click.option("--reason", required=True, help="Why the drift is expected.")
@click.option("--owner", required=True, help="Team that owns the rule.")
@click.option(
    "--expires",
    type=click.DateTime(["%Y-%m-%d"]),
    required=True,
    metavar="YYYY-MM-DD",
    help="Last day of the rule.",
)
@OUTPUT
def command(
    asked: ComparisonOptions,
    *,
    findings: tuple[str, ...],
    reason: str,
    owner: str,
    expires: datetime,
    output: str,
) -> ExitCode:
    """Write a rule that ignores each FINDING until a day, and scan again.

    FINDING is a line of the report: kind, namespace/name and field path. An expired rule is itself
    drift. The file is not written if it would not be valid.

    \b
    Examples:
      holdfast drift ignore "Deployment cx/support-rag spec.replicas" -s dev \\
        --reason "load test" --owner cx --expires 2027-01-31

    \b
    Exit codes: 0 in sync   7 other drift   1 error, or not everything was checked
      2 bad input
    """
    request = asked.request()
    with traced_scan(request.stack, TERMINAL) as span:
        scanner = Scanner(request, TERMINAL)
        wanted = IgnoreRequest(findings, reason, owner, expires)
        plan = plan_ignore(request, scanner.run(engine=False), wanted)
        plan.apply()
        TERMINAL.step(f"{plan.name}: added {plan.added} {'rule' if plan.added == 1 else 'rules'}")
        scan = Scanner(request, TERMINAL).scan()
        report(scanner, scan, ReportRequest(output), RecordingRequest())
        note_scan(span, scan.report)
        return exit_code(scan)
