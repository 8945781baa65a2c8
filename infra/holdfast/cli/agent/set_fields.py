"""`holdfast agent set`: fields of an agent, declared for a stack, applied by its next update."""

import click

from holdfast.cli.agent.action import AgentAction, on_branch, takes_action
from holdfast.errors import ExitCode
from holdfast.operations.actions.settings import apply_settings, parse_field, plan_settings


@click.command()
@takes_action("set")
@click.argument("changes", nargs=-1, required=True, metavar="FIELD=VALUE...")
@on_branch
def command(asked: AgentAction, changes: tuple[str, ...], branch: str | None) -> ExitCode:
    """Set fields of an agent in the stack's file: FIELD below spec, VALUE as in YAML.

    All changes are tried together in a copy of the project; nothing is written if it would not be
    valid. `holdfast explain spec.FIELD` explains a field.

    \b
    Examples:
      holdfast agent set support-rag scaling.replicas=4 -s prod \\
        --reason "the sale"
      holdfast agent set support-rag resources.limits.memory=2Gi -s prod \\
        --reason "OOM"
      holdfast agent set support-rag availability.active=standby -s prod \\
        --reason "failover"
      holdfast agent set support-rag 'env=[{name: RETRIES, value: "5"}]' -s prod \\
        --reason "a flaky tool" --branch retries
    """
    values = [parse_field(change) for change in changes]
    name = asked.agent.name
    plan = plan_settings(asked.context, name, values, branch=branch, message=asked.message)
    return asked.carry_out(plan, apply_settings, file=plan.file, diff=plan.change.diff, asks=False)
