"""Options that belong together become one typed argument of a command."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

Command = Callable[..., int]
Option = Callable[[Command], Command]
Group = tuple[Callable[..., object], tuple[Option, ...]]
"""What makes a value of the options, by the names of their parameters; and the options."""


def takes(make: Callable[..., object], **groups: Group) -> Callable[[Command], Command]:
    """Options of several groups; the command receives `make(group=value, ...)` as first argument.

    Args:
        make: Makes the argument, such as a dataclass; its parameters are the names of the groups.
        groups: In the order in which help lists them.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_request(**said: Any) -> int:  # noqa: ANN401  (every option, by name)
            values = {
                name: build(**{each: said.pop(each) for each in _names(options)})
                for name, (build, options) in groups.items()
            }
            return command(make(**values), **said)

        decorated: Command = with_request
        for _, options in reversed(groups.values()):
            for option in reversed(options):
                decorated = option(decorated)
        return decorated

    return decorate


def receives(group: Group) -> Callable[[Command], Command]:
    """Options of one group; the command receives their value as first argument."""
    return takes(lambda value: value, value=group)


def _names(options: tuple[Option, ...]) -> list[str]:
    """Names of the parameters that options pass."""

    def nothing() -> int:
        return 0

    command: Any = nothing
    for option in options:
        command = option(command)
    parameters: list[click.Parameter] = command.__click_params__
    return [each.name for each in parameters if each.name]
