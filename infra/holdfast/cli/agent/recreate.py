"""`holdfast agent recreate`: done in the cluster at once."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.recreate import apply_recreate, plan_recreate


@click.command()
@takes_action("recreate")
@click.option("--all", "whole", is_flag=True, help="Everything of it that holds no data.")
def command(asked: AgentAction, *, whole: bool) -> ExitCode:
    """Delete what runs an agent, and create it again as it is declared.

    For what a restart does not repair. The agent does not run meanwhile: its pods are gone before
    new ones start. Claims, volumes and runs of Jobs are never deleted. What runs must be what the
    files here declare: this is no update.

    \b
    Example: holdfast agent recreate support-rag -s prod --reason "its ReplicaSets are in a knot"
    """
    plan = plan_recreate(asked.context, asked.agent, is_whole=whole)
    return asked.carry_out(plan, apply_recreate)
