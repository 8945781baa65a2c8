"""Asking for confirmation before something is done."""

import sys

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
