"""`holdfast agent fail-over`: declared for a stack, done by its next update."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.cli.agent.declaring import declare_fields, on_branch
from holdfast.errors import ExitCode
from holdfast.operations.actions.settings import failover_field


@click.command()
@takes_action("fail-over")
@on_branch
def command(asked: AgentAction, branch: str | None) -> ExitCode:
    """Declare that the other one of primary and standby serves (availability.standby).

    \b
    Example: holdfast agent fail-over support-rag -s prod --reason "the primary answers wrongly"
    """
    return declare_fields(asked, [failover_field(asked.agent)], branch)
