"""`holdfast sandbox kubeconfig`: how clients reach a sandbox."""

import click

from holdfast.cli.sandbox.options import name_option, require_sandbox
from holdfast.sandbox.paths import USERS, SandboxPaths


@click.command()
@name_option
@click.option(
    "--user", type=click.Choice(list(USERS)), default="admin", show_default=True, help="As whom."
)
def command(place: SandboxPaths, user: str) -> None:
    """Print the path of a kubeconfig.

    \b
    Examples:
      export KUBECONFIG=$(holdfast sandbox kubeconfig)
      kubectl --kubeconfig $(holdfast sandbox kubeconfig --user alice) get pods -A
    """
    require_sandbox(place)
    click.echo(place.kubeconfig(user))
