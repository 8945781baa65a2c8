"""`holdfast validate`: every fault of every file, without an engine."""

from pathlib import Path

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.output import OUTPUT, TERMINAL, wants_colour
from holdfast.cli.options.words import STACK
from holdfast.operations.policy.settings import WAIVERS_FILE
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.validate.validation import ValidationRequest, validate
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
    help="Also check that each stack's cluster serves every kind that its agents need.",
)
@click.option(
    "--write-waivers",
    "writes_waivers",
    is_flag=True,
    help=f"First compile the PolicyException manifests into {WAIVERS_FILE}.",
)
def command(
    paths: tuple[Path, ...],
    stacks: tuple[str, ...],
    output: str,
    *,
    asks_clusters: bool,
    writes_waivers: bool,
) -> int:
    """Check manifests, stack files and rule settings, and evaluate policy on rendered objects.

    Reads the whole project, since manifests refer to one another, and reports on PATHS: files or
    folders, default all. A JSON file among PATHS holds settings of rules. Needs no engine, and no
    cluster without --cluster.

    \b
    Examples:
      holdfast validate
      holdfast validate -s prod
      holdfast validate -s prod --cluster
      holdfast validate agents/support-rag.yaml -s dev -s prod -o json
      holdfast validate policy-pack/config/prod.json

    \b
    Exit codes: 0 valid   2 errors in files   5 a mandatory rule is violated
      6 no such stack
    """
    root = find_project_root()
    request = ValidationRequest(root, stacks, paths, asks_clusters, writes_waivers)
    report = validate(request, TERMINAL)
    if output == "json":
        click.echo(validation_json(report), nl=False)
    else:
        click.echo(validation_text(report, colour=wants_colour()), nl=False)
        click.echo(validation_summary(report), err=True)
    return exit_code_of(report)
