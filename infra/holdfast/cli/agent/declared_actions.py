"""`holdfast agent scale|reconfigure|fail-over`: declared for a stack, done by its next update."""

from collections.abc import Sequence
from typing import Any

import click

from holdfast.adapters.engine.update_record import DONE
from holdfast.cli.agent.action import NOTHING_TO_DO, PLANNED, AgentAction, takes_action
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.text.documents import read_documents
from holdfast.operations.actions.settings import declare, write
from holdfast.report.text.action_text import ActionStep

FieldValue = tuple[Sequence[str], Any]
"""A field below `spec`, and what it is to be."""

on_branch = click.option(
    "--branch", metavar="NAME", help="Commit on a new branch; default: change the file here."
)


@click.command()
@takes_action("scale")
@click.argument("replicas", type=click.IntRange(min=0))
@on_branch
def scale(asked: AgentAction, replicas: int, branch: str | None) -> ExitCode:
    """Declare how many REPLICAS of an agent run on a stack; of an autoscaled one, the fewest.

    \b
    Example: holdfast agent scale support-rag 4 -s prod --reason "the sale" --branch for-the-sale
    """
    field = "minReplicas" if asked.agent.spec.scaling.is_automatic else "replicas"
    return declare_for_stack(asked, [(("scaling", field), replicas)], branch)


@click.command()
@takes_action("reconfigure")
@click.argument("changes", nargs=-1, required=True, metavar="FIELD=VALUE...")
@on_branch
def reconfigure(asked: AgentAction, changes: tuple[str, ...], branch: str | None) -> ExitCode:
    """Declare fields of an agent anew for a stack: FIELD below spec, VALUE as in YAML.

    Everything is tried together in a copy of the project: what would not be valid is refused, and
    nothing is written. `holdfast explain field spec.FIELD` says what a field means.

    \b
    Examples:
      holdfast agent reconfigure support-rag resources.limits.memory=2Gi -s prod \\
        --reason "it runs out of memory"
      holdfast agent reconfigure support-rag 'env=[{name: RETRIES, value: "5"}]' -s prod \\
        --reason "a flaky tool"
    """
    return declare_for_stack(asked, [_field_value(change) for change in changes], branch)


@click.command("fail-over")
@takes_action("fail-over")
@on_branch
def fail_over(asked: AgentAction, branch: str | None) -> ExitCode:
    """Declare that the other one of primary and standby serves (availability.standby).

    \b
    Example: holdfast agent fail-over support-rag -s prod --reason "the primary answers wrongly"
    """
    availability = asked.agent.spec.availability
    if not availability.standby:
        raise InputError(
            f"{asked.name} has no standby", remedy="declare spec.availability.standby: true first"
        )
    other = "primary" if availability.active == "standby" else "standby"
    return declare_for_stack(asked, [(("availability", "active"), other)], branch)


def declare_for_stack(
    asked: AgentAction, values: Sequence[FieldValue], branch: str | None
) -> ExitCode:
    """Show the change of the stack's file, then write or commit it.

    Raises:
        InvalidFilesError: the project would not be valid any more; nothing was written.
    """
    root, stack, name = asked.root, asked.stack, asked.agent.name
    declared = declare(root, stack, name, values)
    steps = [ActionStep("declare", None, f"{'.'.join(path)}: {value}") for path, value in values]
    if not declared.diff:
        click.echo(f"{name} is declared like that already", err=True)
        asked.say(NOTHING_TO_DO, ())
        return ExitCode.OK
    if not asked.as_json:
        click.echo(declared.diff, nl=False)
    more = {"file": declared.file, "diff": declared.diff}
    if asked.is_dry:
        asked.say(PLANNED, steps, **more)
        return ExitCode.OK
    message = f"{asked.action.capitalize()} {name} on {stack}: {asked.reason}"
    with asked.told(f"declared {', '.join(step.why for step in steps)}"):
        write(root, declared, branch, message)
    asked.say(DONE, steps, **more)
    return ExitCode.OK


def _field_value(change: str) -> FieldValue:
    field, separator, text = change.partition("=")
    path = field.removeprefix("spec.").split(".")
    if not separator or not all(path):
        raise InputError(
            f"{change!r}: expected FIELD=VALUE", remedy="such as resources.limits.memory=2Gi"
        )
    read = read_documents(text or '""', "VALUE")
    if read.errors or len(read.documents) != 1:
        problem = read.errors[0].message if read.errors else "expected one value"
        raise InputError(f"{field}: {problem}", remedy="write VALUE as it would stand in YAML")
    return tuple(path), read.documents[0].data
