"""`holdfast preview`: what a preview would change and what the policy pack says."""

import sys
from functools import partial
from pathlib import Path

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.output import TERMINAL
from holdfast.cli.options.report import report_options_for, write_all
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.updates import TIMEOUT
from holdfast.errors import InputError
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.policy.preview import (
    PreviewRequest,
    preview_policy,
    saved_preview,
)
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import PACK_FOLDER, find_project_root
from holdfast.report.exchange.files import ReportRequest, check_files
from holdfast.report.exchange.formats import POLICY_FORMATS, write_policy
from holdfast.report.exchange.policy_notices import PAGES


@click.command()
@report_options_for(PAGES, POLICY_FORMATS)
@stack_option("Stack to preview.")
@click.option(
    "--events",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Read a saved event stream (- for standard input), do not preview.",
)
@click.option(
    "--policy-pack",
    "pack",
    type=click.Path(path_type=Path),
    help=f"Folder of the policy pack; default {PACK_FOLDER}.",
)
@click.option(
    "--policy-pack-config",
    "config",
    type=click.Path(path_type=Path),
    help="JSON configuration of the pack.",
)
@TIMEOUT
def command(
    wanted: ReportRequest,
    *,
    stack: str,
    events: Path | None,
    pack: Path | None,
    config: Path | None,
    timeout_seconds: float,
) -> int:
    """Preview a stack under the policy pack: what would change, and the policy results.

    Lists for each agent the fields that change, and for each rule its result, with file, line and
    column of the manifest. Markdown is a comment for a pull request (`holdfast ci comment`); it is
    empty when nothing changes and nothing is refused. Nothing is written to the cluster.

    --events reads the event stream of a plain `pulumi`; it may contain secrets in debug messages.

    \b
    Examples:
      holdfast preview -s prod
      holdfast preview -s prod -o markdown --output-file c.md \\
        --report sarif=p.sarif
      export PULUMI_ENABLE_STREAMING_JSON_PREVIEW=1
      pulumi preview -s prod --json --policy-pack policy-pack | \\
        holdfast preview -s prod --events - -o html --output-file policy.html

    \b
    Exit codes: 0 nothing is refused   5 a mandatory rule is violated
      1 incomplete: the preview failed, or no policy ran   2 bad input
      6 no such stack   9 timeout
    """
    check_files(wanted)
    context = _context_of(stack, timeout_seconds, is_needed=events is None)
    request = PreviewRequest(stack, context, pack, config, wanted.is_for_files)
    if events is not None:
        previewed = saved_preview(request, _read(events), str(events))
    else:
        assert context is not None  # noqa: S101  (it was needed)
        previewed = preview_policy(request, context)
    for each in previewed.kept:
        TERMINAL.note(f"would keep {each.reference}: it leaves the stack and stays in the cluster")
    write_all(partial(_written, previewed.report, wanted.runbook), wanted)
    if previewed.error is not None:
        raise previewed.error
    return exit_code_of(previewed.report)


def _written(report: PolicyReport, pages: str, chosen: str, *, colour: bool) -> str:
    return write_policy(report, chosen, report.known.rules, pages=pages, colour=colour)


def _context_of(stack: str, timeout_seconds: float, *, is_needed: bool) -> StackContext | None:
    """The stack in its project; None outside of any, where events alone are read."""
    try:
        return StackContext(find_project_root(), stack, timeout_seconds)
    except InputError:
        if is_needed:
            raise
        return None


def _read(events: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(events) == "-" else events.read_bytes()
    except OSError as error:
        raise InputError(f"{events}: {error.strerror or error}", remedy="name a file") from error
