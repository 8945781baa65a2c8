"""`holdfast diff`: what two stacks run differently."""

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.stack import STACK
from holdfast.errors import ExitCode
from holdfast.operations.describe.stack_diff import compare_live, stack_difference
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.explanation import difference_json, difference_text
from holdfast.report.text.stack_diff_text import stack_difference_json, stack_difference_text


@click.command()
@click.argument("first", type=STACK, metavar="STACK")
@click.argument("second", type=STACK, metavar="STACK")
@click.argument("agent", default="")
@click.option(
    "--live", is_flag=True, help="What two clusters have made of the same manifests, instead."
)
@OUTPUT
def command(first: str, second: str, agent: str, output: str, *, live: bool) -> int:
    """Say what two stacks run differently: their commits, and every value of their objects.

    Each stack is rendered at the commit that it was last brought to, by the code of that commit. To
    compare what the files here say instead, use `holdfast explain --compare`. With --live both
    clusters are asked: listed is where an object is as rendered in one of them only, be it by an
    edit, by admission or by a controller; what cannot be read is named, exit code 1.

    \b
    Examples:
      holdfast diff staging prod
      holdfast diff staging prod support-rag -o json
      holdfast diff staging prod --live
    """
    if live:
        return _live((first, second), agent, output)
    found = stack_difference(find_project_root(), first, second, agent)
    text = stack_difference_json(found) if output == "json" else stack_difference_text(found)
    click.echo(text, nl=False)
    return ExitCode.OK


def _live(stacks: tuple[str, str], agent: str, output: str) -> int:
    found = compare_live(find_project_root(), stacks, agent)
    for stack, item in found.not_checked:
        click.echo(f"{stack}: not checked: {item.scope}: {item.reason}", err=True)
    if output == "json":
        click.echo(difference_json(stacks, found.differences), nl=False)
    else:
        text = difference_text(stacks, found.differences)
        alike = f"what {stacks[0]} and {stacks[1]} have made of their manifests does not differ\n"
        click.echo(text or ("" if found.not_checked else alike), nl=False)
    return exit_code_of(found)
