"""What the verbs have in common that change what is declared of an agent on a stack."""

from collections.abc import Sequence

import click

from holdfast.cli.agent.action import AgentAction
from holdfast.errors import ExitCode
from holdfast.operations.actions.settings import FieldValue, apply_settings, plan_settings

on_branch = click.option(
    "--branch", metavar="NAME", help="Commit on a new branch; default: change the file here."
)


def declare_fields(
    asked: AgentAction, values: Sequence[FieldValue], branch: str | None
) -> ExitCode:
    """Show the change of the stack's file that sets some fields, then write or commit it.

    Raises:
        InvalidFilesError: the project would not be valid any more; nothing was written.
    """
    plan = plan_settings(
        asked.context, asked.agent.name, values, branch=branch, message=asked.message
    )
    return asked.carry_out(plan, apply_settings, file=plan.file, diff=plan.change.diff, asks=False)
