"""`holdfast diff`: what two stacks run differently. Wiring only."""

import json

import click

from holdfast.adapters.git.source import commits_between
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.describe.stack_diff import deployed, differences
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.explanation import difference_json, difference_text


@click.command()
@click.argument("first", metavar="STACK")
@click.argument("second", metavar="STACK")
@click.argument("agent", default="")
@click.option(
    "--live", is_flag=True, help="What two clusters have made of the same manifests, instead."
)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(first: str, second: str, agent: str, output: str, *, live: bool) -> ExitCode:
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
    if first == second:
        raise InputError("these are the same stack", remedy="name two")
    if live:
        from holdfast.operations.describe.stack_diff_live import print_live_comparison  # noqa: PLC0415  (start-up)

        return print_live_comparison(find_project_root(), (first, second), agent, output)
    root = find_project_root()
    for stack in (first, second):
        read_stack_file(root, stack)
    sides = (deployed(root, first), deployed(root, second))
    names = (sides[0].commit.name, sides[1].commit.name)
    found = differences(*sides, agent)
    only = [commits_between(root, names[1 - side], names[side]) for side in (0, 1)]
    if output == "json":
        document = {
            "stacks": [
                {
                    "stack": side.stack,
                    "commit": side.commit.name,
                    "onlyHere": [{"commit": c.name, "subject": c.subject} for c in commits],
                }
                for side, commits in zip(sides, only, strict=True)
            ],
            "differences": json.loads(difference_json((first, second), found)),
        }
        click.echo(json_text(document), nl=False)
        return ExitCode.OK
    for side, commits in zip(sides, only, strict=True):
        click.echo(f"{side.stack} runs {side.commit.short} {side.commit.subject}")
        for commit in commits:
            click.echo(f"  only there: {commit.short} {commit.subject}")
    text = difference_text((first, second), found)
    click.echo(text or f"what {first} and {second} run does not differ\n", nl=False)
    return ExitCode.OK
