"""`holdfast drift adopt`: the change of the files that declares what is live."""

import click

from holdfast.cli.drift.detect import exit_code
from holdfast.cli.drift.options import ONLY, ComparisonOptions, compared
from holdfast.cli.options.groups import receives
from holdfast.cli.options.output import TERMINAL
from holdfast.errors import ExitCode
from holdfast.operations.remediate.adopt import (
    Adoption,
    plan_adoption,
)
from holdfast.operations.remediate.selection import with_only
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.tracing import note_scan, traced_scan
from holdfast.report.text.revert_text import not_adopted_line


@click.command()
@receives(compared("desired"))
@ONLY
@click.option("--write", is_flag=True, help="Change the files.")
@click.option("--branch", metavar="NAME", help="Commit the change on a new Git branch.")
def command(
    asked: ComparisonOptions, *, only: tuple[str, ...], write: bool, branch: str | None
) -> ExitCode:
    """Print the change of manifests or stack files that declares the live state, as a diff.

    A change is proposed only if the project stays valid, and renders to what is live. Findings that
    no manifest can declare are listed with the reason.

    \b
    Examples:
      holdfast drift adopt -s dev
      holdfast drift adopt -s dev --write
      holdfast drift adopt -s dev --only "Deployment cx/support-rag" \\
        --branch adopt-support
      holdfast drift adopt -s prod --live built.yaml

    \b
    Exit codes: 0 in sync   7 drift   1 error, or not everything was checked
      2 bad input
    """
    request = asked.request()
    with traced_scan(request.stack, TERMINAL) as span:
        scanner = Scanner(request, TERMINAL)
        scan = with_only(scanner.run(engine=False), only)
        adoption = plan_adoption(scanner, scan)
        show_refused(adoption)
        if branch:
            adoption.write(request.project_root, branch, TERMINAL)
        if write:
            adoption.write(request.project_root, None, TERMINAL)
        click.echo(adoption.change.diff, nl=False)
        note_scan(span, scan.report)
        return exit_code(scan)


def show_refused(adoption: Adoption) -> None:
    """List the findings that are not adopted, each with the reason."""
    for finding, reason in adoption.refused:
        TERMINAL.step(not_adopted_line(finding, reason))
