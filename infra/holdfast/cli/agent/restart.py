"""`holdfast agent restart`: done in the cluster at once."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.restart import apply_restart, plan_restart


@click.command()
@takes_action("restart")
@click.option("--node", default="", help="Only pods on this node.")
def command(asked: AgentAction, node: str) -> ExitCode:
    """Replace the pods of an agent, as `kubectl rollout restart` does; wait until it is healthy.

    Each controller replaces its pods by its own rules, maxUnavailable and disruption budgets
    included; `holdfast drift` shows the restart as a remark. With --node, and for a Sandbox, the
    pods are evicted one after another, each time waiting until the agent is healthy.

    \b
    Example:
      holdfast agent restart support-rag -s prod --reason "stuck connections"
    """
    return asked.execute_plan(plan_restart(asked.context, asked.agent, node), apply_restart)
