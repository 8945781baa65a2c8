"""How verbs write: the option -o, colour, and progress lines."""

import os
import sys
from typing import Final

import click

from holdfast.operations.progress import Progress
from holdfast.report.text.listed import LIST_FORMATS

OUTPUT: Final = click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people, or JSON for programs.",
)

LIST_OUTPUT: Final = click.option(
    "-o",
    "--output",
    type=click.Choice(LIST_FORMATS),
    default="text",
    show_default=True,
    help="Text; wide, with more columns; JSON; YAML; or names, one a line.",
)
"""The option -o of every verb that lists; `report.text.listed` writes it."""


def wants_colour() -> bool:
    """Whether standard output is a terminal, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


class TerminalProgress:
    """Writes progress to standard error, a line each; standard output stays for results."""

    def note(self, text: str) -> None:
        """Write a line."""
        click.echo(text, err=True)

    def step(self, text: str) -> None:
        """Write a line."""
        click.echo(text, err=True)


TERMINAL: Final[Progress] = TerminalProgress()
