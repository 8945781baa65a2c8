"""`holdfast completion`: what lets a shell complete verbs, options and the stacks of a project."""

import os
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from holdfast.errors import InputError
from holdfast.manifest.stack.stack_files import stack_names
from holdfast.operations.stack.project import find_project_root

VARIABLE = "_HOLDFAST_COMPLETE"
"""The variable by which a shell asks click for completions; click's name for it."""

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@click.command()
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def command(shell: str) -> None:
    """Print what lets a shell complete verbs, options, their choices, and stacks after -s.

    \b
    Examples:
      eval "$(holdfast completion bash)"             (in ~/.bashrc; bash 4.4 or newer)
      eval "$(holdfast completion zsh)"              (in ~/.zshrc, after compinit)
      holdfast completion fish > ~/.config/fish/completions/holdfast.fish
    """
    asked = _SHELLS[shell](click.Command("holdfast"), {}, "holdfast", VARIABLE)
    # Not `source()`, which starts a bash to ask for its version.
    click.echo(asked.source_template % asked.source_vars())


def complete_stacks() -> None:
    """Let the shell that asks for completions get stacks, too, where a stack is named."""
    shell = os.environ.get(VARIABLE, "").partition("_")[0]
    if shell in _SHELLS:
        known = _SHELLS[shell]
        add_completion_class(type(known.__name__, (_WithStacks, known), {}), shell)


class _WithStacks(ShellComplete):
    def get_completions(self, args: list[str], incomplete: str) -> "list[CompletionItem[Any]]":
        """Names of stacks after an option that takes one, else what click knows."""
        if not _takes_stack(args):
            return super().get_completions(args, incomplete)
        try:
            names = stack_names(find_project_root())
        except InputError:
            return []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _takes_stack(arguments: list[str]) -> bool:
    last = arguments[-1] if arguments else ""
    is_promoted = arguments[:1] == ["promote"] and last in ("--from", "--to")
    return last in ("-s", "--stack") or is_promoted
