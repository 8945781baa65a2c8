"""`holdfast agent set`: fields of an agent, declared for a stack, applied by its next update."""

import click

from holdfast.cli.agent.action import AgentAction, on_branch, takes_action
from holdfast.cli.options.words import Word
from holdfast.errors import ExitCode
from holdfast.operations.actions.settings import apply_settings, parse_field, plan_settings

_SETTING = Word("FIELD=VALUE", "setting")


@click.command()
@takes_action("set")
@click.argument("changes", nargs=-1, type=_SETTING, required=True, metavar="FIELD=VALUE...")
@on_branch
def command(asked: AgentAction, changes: tuple[str, ...], branch: str | None) -> ExitCode:
    """Set fields of an agent in the stack's file: FIELD below spec, VALUE as in YAML.

    All changes are tried together in a copy of the project; nothing is written if it would not be
    valid. `holdfast explain spec.FIELD` explains a field.

    \b
    Examples:
      holdfast agent set support-rag scaling.replicas=4 -s prod \\
        --reason "the sale"
      holdfast agent set support-rag -s prod --reason "OOM" \\
        container.resources.limits.memory=2Gi
      holdfast agent set support-rag scaling.availability.active=standby -s prod \\
        --reason "failover"
      holdfast agent set support-rag -s prod --branch retries \\
        --reason "a flaky tool" 'container.env=[{name: RETRIES, value: "5"}]'
    """
    values = [parse_field(change) for change in changes]
    name = asked.agent.name
    plan = plan_settings(asked.context, name, values, branch=branch, message=asked.message)
    return asked.execute_plan(
        plan, apply_settings, file=plan.file, diff=plan.change.diff, asks=False
    )
