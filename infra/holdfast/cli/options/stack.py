"""The option -s of verbs that take one stack."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from holdfast.cli.options.words import STACK


def stack_option(
    text: str, *, required: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option -s of a verb that takes one stack; the verb receives `stack`, empty for none.

    Args:
        text: Its help.
        required: Refuse a command line without it.
    """
    return click.option(
        "-s",
        "--stack",
        type=STACK,
        multiple=True,
        required=required,
        callback=_only_one,
        help=text,
    )


def _only_one(_context: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> str:
    """Click itself would take the last one, and ignore the others."""
    if len(given) > 1:
        raise click.BadParameter(f"expected one stack, got {' and '.join(given)}")
    return given[0] if given else ""
