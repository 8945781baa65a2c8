"""`holdfast diff`: what differs between two stacks: deployed, declared or live."""

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.words import AGENT, STACK
from holdfast.errors import ExitCode, InputError
from holdfast.operations.describe.compare import compare
from holdfast.operations.describe.stack_diff import compare_live, stack_difference
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.explanation import difference_json, difference_text
from holdfast.report.text.stack_diff_text import stack_difference_json, stack_difference_text


@click.command()
@click.argument("first", type=STACK, metavar="STACK")
@click.argument("second", type=STACK, metavar="STACK")
@click.argument("agent", type=AGENT, default="")
@click.option(
    "--source",
    type=click.Choice(["deployed", "files", "live"]),
    default="deployed",
    show_default=True,
    help="What is compared; see below.",
)
@click.option("--objects", is_flag=True, help="With --source files: rendered objects too.")
@OUTPUT
def command(first: str, second: str, agent: str, source: str, output: str, *, objects: bool) -> int:
    """Compare two stacks, value by value; all agents, or AGENT alone.

    \b
    deployed   the last deployed commit of each, rendered by its own code
    files      manifests and settings here, with file and line of each value
    live       both clusters: values that are as rendered in one of them only

    \b
    Examples:
      holdfast diff staging prod
      holdfast diff staging prod support-rag -o json
      holdfast diff dev prod --source files
      holdfast diff staging prod --source live

    \b
    Exit codes: 0 compared   1 something live could not be read   2 bad input
      6 no such stack
    """
    if objects and source != "files":
        raise InputError("--objects requires --source files", remedy="add it")
    root, stacks, is_json = find_project_root(), (first, second), output == "json"
    if source == "deployed":
        found = stack_difference(root, first, second, agent)
        click.echo(
            stack_difference_json(found) if is_json else stack_difference_text(found), nl=False
        )
        return ExitCode.OK
    if source == "live":
        return _live(stacks, agent, is_json=is_json)
    sides = (StackContext(root, first), StackContext(root, second))
    differences = compare(*sides, agent, with_objects=objects)
    if is_json:
        click.echo(difference_json(stacks, differences), nl=False)
    else:
        alike = f"{first} and {second} do not differ\n"
        click.echo(difference_text(stacks, differences) or alike, nl=False)
    return ExitCode.OK


def _live(stacks: tuple[str, str], agent: str, *, is_json: bool) -> int:
    found = compare_live(find_project_root(), stacks, agent)
    for stack, item in found.not_checked:
        click.echo(f"{stack}: not checked: {item.scope}: {item.reason}", err=True)
    if is_json:
        click.echo(difference_json(stacks, found.differences), nl=False)
    else:
        text = difference_text(stacks, found.differences)
        alike = f"{stacks[0]} and {stacks[1]} deviate alike from what they render\n"
        click.echo(text or ("" if found.not_checked else alike), nl=False)
    return exit_code_of(found)
