"""`holdfast agent backup`: done in the cluster at once."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.backup import apply_backup, plan_backup


@click.command()
@takes_action("backup")
def command(asked: AgentAction) -> ExitCode:
    """Back up an agent's volumes now: run a Job of its backup schedule, and wait for it.

    \b
    Example:
      holdfast agent backup support-rag -s prod --reason "before the migration"
    """
    return asked.execute_plan(plan_backup(asked.agent), apply_backup)
