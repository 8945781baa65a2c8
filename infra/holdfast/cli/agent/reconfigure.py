"""`holdfast agent reconfigure`: declared for a stack, done by its next update."""

import click

from holdfast.cli.agent.action import AgentAction, takes_action
from holdfast.cli.agent.declaring import declare_fields, on_branch
from holdfast.errors import ExitCode
from holdfast.operations.actions.settings import parse_field


@click.command()
@takes_action("reconfigure")
@click.argument("changes", nargs=-1, required=True, metavar="FIELD=VALUE...")
@on_branch
def command(asked: AgentAction, changes: tuple[str, ...], branch: str | None) -> ExitCode:
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
    return declare_fields(asked, [parse_field(change) for change in changes], branch)
