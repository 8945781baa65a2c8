"""Stacks on the command line: a shell completes their names from the project's files."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from holdfast.cli.options.typed_parameter import TypedParameter
from holdfast.errors import InputError
from holdfast.manifest.stack.names import stack_names
from holdfast.operations.stack.project import find_project_root

if TYPE_CHECKING:
    Completions = list[CompletionItem[Any]]


class StackName(TypedParameter[str]):
    """Name of a stack; that it exists is seen when its file is read."""

    name = "STACK"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The name as it was written."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "Completions":
        """Stacks of the project around the working directory; none outside of any."""
        try:
            names = stack_names(find_project_root())
        except InputError:
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


STACK: Final = StackName()
"""The type of every option and argument that names a stack."""


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
