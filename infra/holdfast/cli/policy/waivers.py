"""`holdfast policy waivers`: what was waived, as the policy pack reads it."""

import click

from holdfast.operations.policy.settings import WAIVERS_FILE, compiled_waivers, write_waivers
from holdfast.operations.stack.project import find_project_root


@click.command("waivers")
@click.option("--write", is_flag=True, help=f"Write {WAIVERS_FILE}.")
def command(write: bool) -> None:
    """Compile the PolicyException manifests for the policy pack, which reads no manifests.

    \b
    Examples:
      holdfast policy waivers
      holdfast policy waivers --write
    """
    root = find_project_root()
    if not write:
        click.echo(compiled_waivers(root), nl=False)
        return
    write_waivers(root)
    click.echo(f"wrote {WAIVERS_FILE}", err=True)
