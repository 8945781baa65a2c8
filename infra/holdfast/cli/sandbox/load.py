"""`holdfast sandbox load`: put an image into the real node."""

from pathlib import Path

import click

from holdfast.cli.sandbox.options import name_option, require_sandbox
from holdfast.sandbox.node.load import load_archive
from holdfast.sandbox.paths import SandboxPaths


@click.command()
@click.argument("archive", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--as",
    "names",
    multiple=True,
    metavar="REFERENCE",
    help="Another reference for its first image, as manifests write it; repeatable.",
)
@name_option
def command(archive: Path, names: tuple[str, ...], place: SandboxPaths) -> None:
    """Load the images of ARCHIVE into the sandbox's real node and print their references.

    ARCHIVE is what 'docker save' or 'holdfast sandbox images build' writes. With --as the image
    stands in for another one, also for a reference with another digest; nothing is pulled then.

    \b
    Examples:
      holdfast sandbox load agent.tar
      holdfast sandbox load agent.tar --as registry.example/agents/coder:1.0
    """
    require_sandbox(place)
    for reference in load_archive(place, archive, names):
        click.echo(reference)
