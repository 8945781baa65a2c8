"""`holdfast status`: what runs, from which commit, how it differs, who did that."""

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.stack import stack_option
from holdfast.operations.describe.status import stack_status
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.status_text import status_json, status_text


@click.command()
@click.argument("name", default="", metavar="[AGENT]")
@stack_option("Stack whose status is wanted.")
@OUTPUT
def command(name: str, stack: str, output: str) -> int:
    """Print what runs of every agent, from which commit, how it differs, and who changed it.

    Sync is Synced, OutOfSync or Unknown: what runs against what is declared here. Health is that of
    its workloads. Tool servers that the stack runs are listed with the agents; drift that belongs
    to none of them stands after them. Only reads.

    \b
    Examples:
      holdfast status -s prod
      holdfast status support-rag -s prod -o json

    \b
    Exit codes: 0 all is as declared and healthy   7 drift   1 not healthy, or not known
      2 bad input   6 no such stack
    """
    found = stack_status(StackContext(find_project_root(), stack), name)
    click.echo(status_json(found) if output == "json" else status_text(found), nl=False)
    return exit_code_of(found)
