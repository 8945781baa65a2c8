"""`holdfast agent describe`: an agent on a stack in words, with the origin of every value."""

import click

from holdfast.cli.options.output import OUTPUT, wants_colour
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.words import AGENT
from holdfast.errors import ExitCode, InputError
from holdfast.operations.describe.agent import explain_agent
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.explanation import effective_yaml, explanation_json, explanation_text


@click.command()
@click.argument("name", type=AGENT)
@stack_option("Stack that the agent runs on.")
@click.option("--effective", is_flag=True, help="Print the merged manifest, as YAML.")
@click.option(
    "--cluster/--no-cluster",
    default=None,
    help="Require the cluster, or do not ask it. Default: ask if it answers.",
)
@OUTPUT
def command(
    name: str, stack: str, output: str, *, effective: bool, cluster: bool | None
) -> ExitCode:
    """Describe an agent: how it runs, who may call it, what it may reach and do.

    Every statement and every value names the file and line that decided it. If the stack's cluster
    answers, also the live pods, the update that deployed them, drift and its author. Reads only.

    \b
    Examples:
      holdfast agent describe support-rag -s prod
      holdfast agent describe support-rag -s prod --cluster -o json
      holdfast agent describe support-rag -s prod --effective
    """
    if effective and (cluster is not None or output == "json"):
        raise InputError(
            "--effective prints YAML of the files alone: --cluster, --no-cluster and -o json "
            "have no effect on it",
            remedy="remove them, or --effective",
        )
    context = StackContext(find_project_root(), stack)
    asks_cluster = not effective and cluster is not False
    found = explain_agent(context, name, asks_cluster=asks_cluster, must_answer=bool(cluster))
    if output == "json":
        text = explanation_json(found)
    elif effective:
        text = effective_yaml(found)
    else:
        text = explanation_text(found, colour=wants_colour())
    click.echo(text, nl=False)
    return ExitCode.OK
