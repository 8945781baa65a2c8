"""Answers a shell that asks for completions, by click's own mechanism."""

from typing import Final

from click.shell_completion import shell_complete

from holdfast.errors import ExitCode

VARIABLE: Final = "_HOLDFAST_COMPLETE"
"""The variable by which a shell asks click for completions; click's name for it."""


def complete(instruction: str) -> int:
    """Print what fits; nothing where the installation lacks the table.

    Args:
        instruction: What the shell's script put into the variable, such as `bash_complete`.
    """
    from holdfast.cli.completion_table import light_command  # noqa: PLC0415  (a TAB alone)

    try:
        return shell_complete(light_command(), {}, "holdfast", VARIABLE, instruction)
    except (OSError, ValueError, KeyError):
        # A traceback would land in the middle of the line that is being typed. Without the
        # variables of a shell, or with an incomplete installation, there is nothing to offer.
        return ExitCode.ERROR
