"""Progress of an operation, on standard error."""

import click


class TerminalProgress:
    """Writes a line for each note and each step."""

    def note(self, text: str) -> None:
        """Say what a person should know."""
        click.echo(f"note: {text}", err=True)

    def step(self, text: str) -> None:
        """Say what has been done or begins."""
        click.echo(text, err=True)
