"""What the verbs of `holdfast sandbox` have in common."""

import click

from holdfast.errors import InputError
from holdfast.sandbox.paths import DEFAULT_NAME, SandboxPaths, sandbox_paths

name_option = click.option(
    "--name",
    "place",
    default=DEFAULT_NAME,
    show_default=True,
    metavar="NAME",
    callback=lambda _context, _parameter, value: sandbox_paths(value),
    help="Which sandbox; several run side by side.",
)
output_option = click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people, or JSON for programs.",
)


def report_line(line: str) -> None:
    """Write a line of progress to standard error."""
    click.echo(line, err=True)


def require_sandbox(place: SandboxPaths) -> None:
    """Refuse a sandbox that does not exist.

    Raises:
        InputError: it does not exist.
    """
    if not place.record.exists():
        option = "" if place.name == DEFAULT_NAME else f" --name {place.name}"
        raise InputError(
            f"there is no sandbox {place.name}", remedy=f"run 'holdfast sandbox up{option}'"
        )
