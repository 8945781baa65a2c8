"""`holdfast sandbox images build`: an image to try agents with."""

from pathlib import Path

import click

from holdfast.sandbox.image.build import build_image


@click.command()
@click.option(
    "-o",
    "--output",
    "archive",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("agent.tar"),
    show_default=True,
    help="Archive to write.",
)
def command(archive: Path) -> None:
    """Build a small image from programs of this machine; print its reference.

    Holds Python, curl, a shell and one program that is an agent (A2A), a tool server (MCP), a model
    that repeats what it is given, and metrics. Needs no registry and no container engine.

    \b
    Examples:
      holdfast sandbox images build
      holdfast sandbox images build -o /tmp/agent.tar && holdfast sandbox load /tmp/agent.tar
    """
    click.echo(build_image(archive))
