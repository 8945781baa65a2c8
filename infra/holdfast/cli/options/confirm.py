"""Asking before something is done."""

import sys

import click

from holdfast.errors import InputError


def agree(question: str, *, is_agreed: bool) -> None:
    """Ask, unless it is agreed to already.

    Raises:
        InputError: nobody is there to be asked.
        Abort: the answer is no.
    """
    if is_agreed:
        return
    if not sys.stdin.isatty():
        raise InputError(
            "this asks before it writes, and nobody is there", remedy="add --yes to agree"
        )
    if not click.confirm(question, err=True):
        raise click.Abort
