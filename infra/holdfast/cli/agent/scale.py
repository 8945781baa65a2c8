"""`holdfast agent scale`: declared for a stack, done by its next update."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.cli.agent.declaring import declare_fields, on_branch
from holdfast.errors import ExitCode
from holdfast.operations.actions.settings import replicas_field


@click.command()
@takes_action("scale")
@click.argument("replicas", type=click.IntRange(min=0))
@on_branch
def command(asked: AgentAction, replicas: int, branch: str | None) -> ExitCode:
    """Declare how many REPLICAS of an agent run on a stack; of an autoscaled one, the fewest.

    \b
    Example: holdfast agent scale support-rag 4 -s prod --reason "the sale" --branch for-the-sale
    """
    return declare_fields(asked, [replicas_field(asked.agent, replicas)], branch)
