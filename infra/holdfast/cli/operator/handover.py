"""`holdfast operator handover`: objects handed over from the engine to the operator."""

import click

from holdfast.cli.options.confirm import confirm
from holdfast.cli.options.output import OUTPUT, TerminalProgress
from holdfast.cli.options.stack import stack_option
from holdfast.errors import ExitCode
from holdfast.operations.actions.action import ActionRequest, execute
from holdfast.operations.actions.handover import apply_handover, plan_handover
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.action_text import action_json, steps_text

_ACTION = "handover"


@click.command()
@stack_option("Stack whose agents the operator takes over.")
@click.option("--reason", default="mode expand", show_default=True, help="Why, for the history.")
@click.option("-y", "--yes", is_flag=True, help="Confirm without asking.")
@click.option("--dry-run", is_flag=True, help="Show the plan, and stop.")
@OUTPUT
def command(stack: str, reason: str, output: str, *, yes: bool, dry_run: bool) -> ExitCode:
    """Move the objects of a stack's agents from Pulumi to the operator; nothing is deleted.

    Run it after holdfast:agentResources has become {mode: expand}. The objects, claims with data
    included, are removed from Pulumi's state and stay in the cluster. The next update registers the
    agents alone, and the operator applies the same objects: same names, same field manager, same
    uids. `holdfast up` refuses to run before, since it would delete them.

    The way back needs no command: with {mode: observe} the next update imports the objects.

    \b
    Examples:
      holdfast operator handover -s prod --dry-run
      holdfast operator handover -s prod && holdfast up -s prod
    """
    context = StackContext(find_project_root(), stack)
    progress = TerminalProgress()
    plan = plan_handover(context)

    def done(outcome: str) -> ExitCode:
        if output == "json":
            text = action_json(_ACTION, "", stack, outcome, plan.steps, reason=reason)
            click.echo(text, nl=False)
        return ExitCode.OK

    if not plan.urns:
        progress.note(f"the engine holds no objects of agents of stack {stack}")
        return done("nothing to do")
    click.echo(steps_text(plan.steps), nl=False, err=True)
    if dry_run:
        return done("planned")
    confirm(f"Transfer {len(plan.steps)} objects to the operator?", is_confirmed=yes)
    request = ActionRequest(_ACTION, plan.agents, reason)
    execute(context, request, plan, apply_handover, progress)
    return done("done")
