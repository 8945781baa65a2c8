"""`holdfast validate`: every fault of every file, without an engine. Wiring only."""

from datetime import UTC, datetime
from pathlib import Path

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.output import OUTPUT, wants_colour
from holdfast.cli.options.stack import STACK
from holdfast.manifest.fleet.loader import manifest_files_in
from holdfast.manifest.fleet.project_files import AGENTS_FOLDER
from holdfast.manifest.stack.names import stack_names
from holdfast.operations.stack.context import NOTHING_DECLARED
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.validate.validation import validate_project
from holdfast.report.text.validation_text import (
    validation_json,
    validation_summary,
    validation_text,
)


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option(
    "-s", "--stack", "stacks", type=STACK, multiple=True, help="Stack; repeatable. Default: all."
)
@OUTPUT
@click.option(
    "--cluster",
    "asks_clusters",
    is_flag=True,
    help="Ask each stack's cluster, too, whether it knows every kind that agents need.",
)
def command(
    paths: tuple[Path, ...],
    stacks: tuple[str, ...],
    output: str,
    *,
    asks_clusters: bool,
) -> int:
    """Check manifests and stack files, and judge what they stand for by the policy pack's rules.

    Reads the whole project, since manifests refer to one another, and reports what lies in PATHS:
    files or folders, default all of it. Needs neither cluster nor engine, unless --cluster asks.

    \b
    Examples:
      holdfast validate
      holdfast validate -s prod
      holdfast validate -s prod --cluster
      holdfast validate agents/support-rag.yaml -s dev -s prod -o json

    \b
    Exit codes: 0 valid   2 errors in files   5 a mandatory rule is broken   6 no such stack
    """
    root = find_project_root()
    today = datetime.now(UTC).date()
    chosen = stacks or stack_names(root)
    report = validate_project(root, chosen, paths, today=today, asks_clusters=asks_clusters)
    if output == "json":
        click.echo(validation_json(report), nl=False)
    else:
        click.echo(validation_text(report, colour=wants_colour()), nl=False)
        click.echo(validation_summary(report), err=True)
        if not paths and not manifest_files_in(root / AGENTS_FOLDER):
            click.echo(f"note: {NOTHING_DECLARED}", err=True)
    return exit_code_of(report)
