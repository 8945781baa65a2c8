"""`holdfast policy waivers`: what was waived, as the policy pack reads it."""

import click
from holdfast_policies.waivers import compiled

from holdfast.adapters.files.atomic_write import write_atomically
from holdfast.errors import ExitCode
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.validate.waivers import WAIVERS_FILE
from holdfast.render.objects.admission import waivers_of


@click.command("waivers")
@click.option("--write", is_flag=True, help=f"Write {WAIVERS_FILE}.")
def command(write: bool) -> ExitCode:
    """Compile the PolicyException manifests for the policy pack, which reads no manifests.

    \b
    Examples:
      holdfast policy waivers
      holdfast policy waivers --write
    """
    root = find_project_root()
    text = compiled(waivers_of(load_fleet(root, None)))
    if not write:
        click.echo(text, nl=False)
        return ExitCode.OK
    write_atomically(root / WAIVERS_FILE, text)
    click.echo(f"wrote {WAIVERS_FILE}", err=True)
    return ExitCode.OK
