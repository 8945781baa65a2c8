"""Progress of an operation on a terminal: a line each, to standard error."""

from typing import Final

import click

from holdfast.operations.progress import Progress


class TerminalProgress:
    """Writes what an operation says; standard output stays for its result."""

    def note(self, text: str) -> None:
        """Write a line."""
        click.echo(text, err=True)

    def step(self, text: str) -> None:
        """Write a line."""
        click.echo(text, err=True)


TERMINAL: Final[Progress] = TerminalProgress()
