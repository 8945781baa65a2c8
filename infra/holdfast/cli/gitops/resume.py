"""`holdfast gitops resume`: the loops of a stack act again. Wiring only."""

import time

import click

from holdfast.adapters.journal.controls import LoopControls, read_controls, write_controls
from holdfast.cli.options.stack import stack_option
from holdfast.controllers.gitops.loop_controls import controls_of
from holdfast.errors import ExitCode
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.stack.update_history import action_record, journal_of


@click.command()
@stack_option("Stack that is to be held to its branch again.")
@click.option("--reason", default="", help="Why, for the history.")
def command(stack: str, reason: str) -> ExitCode:
    """Let `holdfast gitops run` act on a stack again, and say that all fights are over.

    Ends a pause, if there is one. Fields that were only reported because somebody else kept writing
    them are put back again; it counts anew from there.

    \b
    Example:
      holdfast gitops resume -s prod --reason "the other controller is off"
    """
    root = find_project_root()
    read_stack_file(root, stack)
    file = controls_of(root, stack)
    was_paused = bool(read_controls(file).paused_by)
    write_controls(file, LoopControls(fights_closed_seconds=time.time()))
    journal_of(root, stack).add(action_record("resume", stack, reason))
    click.echo(
        f"{'resumed' if was_paused else 'was not paused; fights are over'}: {stack}", err=True
    )
    return ExitCode.OK
