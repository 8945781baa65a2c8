"""`holdfast agent scale|reconfigure|fail-over`: declared for a stack, done by its next update."""

from collections.abc import Sequence

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.settings import (
    FieldValue,
    apply_settings,
    failover_field,
    parse_field,
    plan_settings,
    replicas_field,
)

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
    return _declare(asked, [replicas_field(asked.agent, replicas)], branch)


@click.command()
@takes_action("reconfigure")
@click.argument("changes", nargs=-1, required=True, metavar="FIELD=VALUE...")
@on_branch
def reconfigure(asked: AgentAction, changes: tuple[str, ...], branch: str | None) -> ExitCode:
    """Set fields of an agent for a stack: FIELD below spec, VALUE as in YAML.

    Everything is tried together in a copy of the project: what would not be valid is refused, and
    nothing is written. `holdfast explain field spec.FIELD` says what a field means.

    \b
    Examples:
      holdfast agent reconfigure support-rag resources.limits.memory=2Gi -s prod \\
        --reason "it runs out of memory"
      holdfast agent reconfigure support-rag 'env=[{name: RETRIES, value: "5"}]' -s prod \\
        --reason "a flaky tool"
    """
    return _declare(asked, [parse_field(change) for change in changes], branch)


@click.command("fail-over")
@takes_action("fail-over")
@on_branch
def fail_over(asked: AgentAction, branch: str | None) -> ExitCode:
    """Declare that the other one of primary and standby serves (availability.standby).

    \b
    Example: holdfast agent fail-over support-rag -s prod --reason "the primary answers wrongly"
    """
    return _declare(asked, [failover_field(asked.agent)], branch)


def _declare(asked: AgentAction, values: Sequence[FieldValue], branch: str | None) -> ExitCode:
    plan = plan_settings(
        asked.context, asked.agent.name, values, branch=branch, message=asked.message
    )
    return asked.carry_out(plan, apply_settings, file=plan.file, diff=plan.change.diff, asks=False)
