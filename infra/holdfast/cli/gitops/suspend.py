"""`holdfast gitops suspend`: the loops of a stack keep their hands off it. Wiring only."""

import click

from holdfast.adapters.clock import utc_now
from holdfast.adapters.journal.controls import LoopControls, read_controls, write_controls
from holdfast.cli.options.stack import stack_option
from holdfast.controllers.gitops.loop_controls import controls_of
from holdfast.errors import ExitCode
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.stack.caller import caller
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.stack.update_history import action_record, journal_of


@click.command()
@stack_option("Stack that is to be left alone.")
@click.option("--reason", required=True, help="Why, for the history and the loop's log.")
def command(stack: str, reason: str) -> ExitCode:
    """Let `holdfast gitops run` do nothing to a stack until `holdfast gitops resume`.

    What it is doing is finished first. New commits and drift wait; `holdfast up` and its like go on
    working. Holds for the loops on this machine.

    \b
    Examples:
      holdfast gitops suspend -s prod --reason "looking into the latency by hand"
      holdfast gitops resume -s prod
    """
    root = find_project_root()
    read_stack_file(root, stack)
    file = controls_of(root, stack)
    before = read_controls(file)
    said = LoopControls(caller(), utc_now(), reason, before.fights_closed_seconds)
    write_controls(file, said)
    journal_of(root, stack).add(action_record("pause", stack, reason))
    click.echo(f"paused on this machine: {stack} ({reason})", err=True)
    return ExitCode.OK
