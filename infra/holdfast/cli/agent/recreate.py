"""`holdfast agent recreate`: done in the cluster at once."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.recreate import apply_recreate, plan_recreate


@click.command()
@takes_action("recreate")
@click.option("--all", "whole", is_flag=True, help="Recreate all its objects that hold no data.")
def command(asked: AgentAction, *, whole: bool) -> ExitCode:
    """Delete the workload of an agent, and create it again as declared.

    For faults that a restart does not repair. The agent is down meanwhile: its old pods are gone
    before new ones start. Claims, volumes and runs of Jobs are never deleted. The live objects must
    match the files here: this is no update.

    \b
    Example:
      holdfast agent recreate support-rag -s prod --reason "stuck ReplicaSets"
    """
    plan = plan_recreate(asked.context, asked.agent, is_whole=whole)
    return asked.execute_plan(plan, apply_recreate)
