"""`holdfast completion`: the script by which a shell asks for completions."""

import click
from click.shell_completion import (
    BashComplete,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

from holdfast.cli.completion_answer import VARIABLE

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@click.command()
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def command(shell: str) -> None:
    """Print the script by which a shell completes verbs, options, choices and names.

    Names are stacks, agents, teams and tool servers of the project around the working directory,
    policy rules, and kinds and fields of `explain`. They are read from files: no cluster is asked.

    \b
    Examples:
      eval "$(holdfast completion bash)"     (in ~/.bashrc; bash 4.4 or newer)
      eval "$(holdfast completion zsh)"      (in ~/.zshrc, after compinit)
      holdfast completion fish > ~/.config/fish/completions/holdfast.fish
    """
    asked = _SHELLS[shell](click.Command("holdfast"), {}, "holdfast", VARIABLE)
    # Not `source()`, which starts a bash to ask for its version.
    click.echo(asked.source_template % asked.source_vars())
