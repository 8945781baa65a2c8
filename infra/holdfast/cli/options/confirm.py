"""Asking for confirmation before something is done."""

import sys
from collections.abc import Sequence

import click

from holdfast.errors import InputError


def confirm(question: str, *, is_confirmed: bool) -> None:
    """Ask, unless `--yes` was given.

    Raises:
        InputError: standard input is no terminal.
        Abort: the answer is no.
    """
    if is_confirmed:
        return
    if not sys.stdin.isatty():
        raise InputError(
            "confirmation required, but standard input is not a terminal",
            remedy="pass --yes to confirm",
        )
    if not click.confirm(question, err=True):
        raise click.Abort


def confirm_on_terminal(question: str, lines: Sequence[str]) -> bool:
    """Show lines and ask, where a person can read and answer; a pipe or a job is not asked.

    Returns:
        Whether the question was asked.

    Raises:
        Abort: the answer is no, or the input has ended.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for line in lines:
        click.echo(line, err=True)
    if not click.confirm(question, err=True):
        raise click.Abort
    return True
