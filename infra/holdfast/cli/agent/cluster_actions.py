"""`holdfast agent restart|reschedule|recreate|backup`: done in the cluster at once."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.backup import apply_backup, plan_backup
from holdfast.operations.actions.recreate import apply_recreate, plan_recreate
from holdfast.operations.actions.reschedule import apply_reschedule, plan_reschedule
from holdfast.operations.actions.restart import apply_restart, plan_restart


@click.command()
@takes_action("restart")
@click.option("--node", default="", help="Only pods on this node.")
def restart(asked: AgentAction, node: str) -> ExitCode:
    """Replace the pods of an agent, as `kubectl rollout restart` does; wait until it is healthy.

    Each controller replaces its pods by its own rules, maxUnavailable and disruption budgets
    included; `holdfast drift` shows the restart as a remark. With --node, and for a Sandbox, the
    pods are evicted one after another, each time waiting until the agent is healthy.

    \b
    Example: holdfast agent restart support-rag -s prod --reason "stuck connections"
    """
    return asked.carry_out(plan_restart(asked.context, asked.agent, node), apply_restart)


@click.command()
@takes_action("reschedule")
@click.option("--node", default="", help="Only from this node; default from all that are lost.")
@click.option(
    "--force",
    is_flag=True,
    help="The nodes are known to be off: delete their pods at once, whatever budgets say.",
)
def reschedule(asked: AgentAction, node: str, *, force: bool) -> ExitCode:
    """Move an agent off nodes that are cordoned, not ready or gone.

    Its pods there are evicted, and the scheduler places new ones elsewhere; it is done when the
    agent is healthy. A node that takes pods is refused: they might come back to it. Pods on an
    unreachable node may still be writing to their volumes: without --force they are only marked for
    deletion, and stay Terminating until the node responds.

    \b
    Examples:
      kubectl cordon worker-3
      holdfast agent reschedule support-rag -s prod --node worker-3 --reason "maintenance"
      holdfast agent reschedule support-rag -s prod --force --reason "worker-4 burnt down"
    """
    plan = plan_reschedule(asked.context, asked.agent, node, is_forced=force)
    return asked.carry_out(plan, apply_reschedule)


@click.command()
@takes_action("recreate")
@click.option("--all", "whole", is_flag=True, help="Everything of it that holds no data.")
def recreate(asked: AgentAction, *, whole: bool) -> ExitCode:
    """Delete what runs an agent, and create it again as it is declared.

    For what a restart does not repair. The agent does not run meanwhile: its pods are gone before
    new ones start. Claims, volumes and runs of Jobs are never deleted. What runs must be what the
    files here declare: this is no update.

    \b
    Example: holdfast agent recreate support-rag -s prod --reason "its ReplicaSets are in a knot"
    """
    plan = plan_recreate(asked.context, asked.agent, is_whole=whole)
    return asked.carry_out(plan, apply_recreate)


@click.command()
@takes_action("backup")
def backup(asked: AgentAction) -> ExitCode:
    """Back an agent's volumes up now: a Job made of its backup schedule, waited for.

    \b
    Example: holdfast agent backup support-rag -s prod --reason "before the migration"
    """
    return asked.carry_out(plan_backup(asked.agent), apply_backup)
