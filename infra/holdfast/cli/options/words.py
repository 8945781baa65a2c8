"""Names on the command line that a shell completes: stacks, agents, tool servers, rules, fields.

Nothing is loaded for it but the project's files and the kept words, and nothing of a project is
run. Only plain names are offered: a shell writes what it is offered into the command line.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from holdfast.cli.options.kept_words import kept_table
from holdfast.cli.options.typed_parameter import TypedParameter
from holdfast.manifest.stack.names import (
    declared_names,
    own_rule_names,
    project_above,
    stack_names,
)

if TYPE_CHECKING:
    Completions = list[CompletionItem[Any]]

_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*=?")


class Word(TypedParameter[str]):
    """A name of one sort; that it exists is seen by the verb."""

    def __init__(self, metavar: str, *sorts: str) -> None:
        """Complete names of some sorts.

        Args:
            metavar: What stands for it in help.
            sorts: Rows of `_SOURCES`.
        """
        self.name = metavar
        self.sorts = sorts

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The name as it was written."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "Completions":
        """Names that begin so; none outside of any project, and none of what cannot be read."""
        return [CompletionItem(name) for name in words_of(self.sorts, incomplete)]


def words_of(sorts: Iterable[str], incomplete: str) -> list[str]:
    """Names of some sorts that begin with a text, each once, in their order."""
    try:
        root = project_above(Path.cwd())
        found = dict.fromkeys(name for sort in sorts for name in _SOURCES[sort](root, incomplete))
    except (OSError, ValueError):
        # The shell shows whatever is written here in the middle of a command line.
        return []
    return [name for name in found if name.startswith(incomplete) and _PLAIN.fullmatch(name)]


def _of_project(read: Callable[[Path], list[str]]) -> "_Source":
    return lambda root, _incomplete: read(root) if root else []


def _fields(prefix: str = "", suffix: str = "") -> "_Source":
    def source(_root: Path | None, incomplete: str) -> Iterable[str]:
        known = (
            each.removeprefix(prefix) for each in kept_table()["fields"] if each.startswith(prefix)
        )
        return (f"{each}{suffix}" for each in _as_deep_as(incomplete, list(known)))

    return source


def _as_deep_as(incomplete: str, paths: list[str]) -> Iterator[str]:
    """Paths one level at a time, as a shell completes folders; deeper where only one is left."""
    depth = incomplete.count(".")
    near = [each for each in paths if each.startswith(incomplete)]
    while len(level := [each for each in near if each.count(".") <= depth]) <= 1 < len(near):
        if depth > max(each.count(".") for each in near):
            break
        depth += 1
    yield from level


_Source = Callable[[Path | None, str], Iterable[str]]

_SOURCES: Final[Mapping[str, _Source]] = {
    "stack": _of_project(stack_names),
    "agent": _of_project(lambda root: declared_names(root, "Agent")),
    "server": _of_project(lambda root: declared_names(root, "MCPServer")),
    "team": _of_project(lambda root: declared_names(root, "AgentTeam")),
    "rule": lambda root, _: [*kept_table()["rules"], *(own_rule_names(root) if root else ())],
    "field": _fields(),
    "setting": _fields("spec.", "="),
}

STACK: Final = Word("STACK", "stack")
"""The type of every option and argument that names a stack."""

AGENT: Final = Word("TEXT", "agent")
"""The type of every argument and option that names an agent."""

SERVER: Final = Word("TEXT", "server")
"""The type of arguments that name a tool server."""

TEAM: Final = Word("TEXT", "team")
"""The type of options that name a team."""
