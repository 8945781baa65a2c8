"""`holdfast agent evacuate`: done in the cluster at once."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.evacuate import apply_evacuation, plan_evacuation


@click.command()
@takes_action("evacuate")
@click.option("--node", default="", help="Only off this node; default off all such nodes.")
@click.option(
    "--force",
    is_flag=True,
    help="The nodes are off: delete their pods now, regardless of budgets.",
)
def command(asked: AgentAction, node: str, *, force: bool) -> ExitCode:
    """Move an agent off nodes that are cordoned, not ready or gone.

    Evicts its pods there, waits for new ones elsewhere, and ends when the agent is healthy. A node
    that is schedulable is refused: the pods might return to it. Pods on an
    unreachable node may still be writing to their volumes: without --force they are only marked for
    deletion, and stay Terminating until the node responds.

    \b
    Examples:
      kubectl cordon worker-3
      holdfast agent evacuate support-rag -s prod --node worker-3 \\
        --reason "maintenance"
      holdfast agent evacuate support-rag -s prod --force \\
        --reason "worker-4 is off"
    """
    plan = plan_evacuation(asked.context, asked.agent, node, is_forced=force)
    return asked.execute_plan(plan, apply_evacuation)
