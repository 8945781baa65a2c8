"""Progress of an operation on a terminal."""

import click


class TerminalProgress:
    """Writes each line to standard error: standard output is the result's."""

    def note(self, text: str) -> None:
        """Write a remark."""
        click.echo(text, err=True)

    def step(self, text: str) -> None:
        """Write a step."""
        click.echo(text, err=True)
