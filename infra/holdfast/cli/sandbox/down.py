"""`holdfast sandbox down`: stop a sandbox."""

import click

from holdfast.cli.sandbox.options import name_option, report_line
from holdfast.sandbox.control_plane import down as bring_down
from holdfast.sandbox.paths import SandboxPaths


@click.command()
@name_option
@click.option("--keep", is_flag=True, help="Keep the cluster's objects for the next `up`.")
def command(place: SandboxPaths, keep: bool) -> None:
    """Stop a sandbox and delete its cluster, logs and kubeconfigs.

    Ends only processes that `up` started, never others that now have their process IDs. With
    --keep the folder stays, and the next `up` continues with the same objects, users and audit log.

    \b
    Examples:
      holdfast sandbox down
      holdfast sandbox down --name team-a --keep
    """
    outcome = bring_down(place, report_line, keeps_data=keep)
    click.echo(f"sandbox {place.name}: {outcome}", err=True)
