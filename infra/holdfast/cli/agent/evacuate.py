"""`holdfast agent evacuate`: done in the cluster at once."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.evacuate import apply_evacuation, plan_evacuation


@click.command()
@takes_action("evacuate")
@click.option("--node", default="", help="Only from this node; default from all that are lost.")
@click.option(
    "--force",
    is_flag=True,
    help="The nodes are known to be off: delete their pods at once, whatever budgets say.",
)
def command(asked: AgentAction, node: str, *, force: bool) -> ExitCode:
    """Move an agent off nodes that are cordoned, not ready or gone.

    Its pods there are evicted, and the scheduler places new ones elsewhere; it is done when the
    agent is healthy. A node that takes pods is refused: they might come back to it. Pods on an
    unreachable node may still be writing to their volumes: without --force they are only marked for
    deletion, and stay Terminating until the node responds.

    \b
    Examples:
      kubectl cordon worker-3
      holdfast agent evacuate support-rag -s prod --node worker-3 --reason "maintenance"
      holdfast agent evacuate support-rag -s prod --force --reason "worker-4 burnt down"
    """
    plan = plan_evacuation(asked.context, asked.agent, node, is_forced=force)
    return asked.carry_out(plan, apply_evacuation)
