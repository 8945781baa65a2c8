"""`holdfast env`: the variables with which a plain `pulumi` works on a stack."""

import click

from holdfast.cli.options.stack import stack_option
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.stack.shell_environment import shell_environment
from holdfast.report.documents.json_text import json_text


@click.command()
@stack_option("Stack whose sandbox gives KUBECONFIG; default the sandbox.", required=False)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["shell", "json"]),
    default="shell",
    show_default=True,
    help="Lines for eval in a POSIX shell, or JSON for programs.",
)
def command(stack: str, form: str) -> None:
    """Print the environment in which a plain `pulumi` works on a stack.

    Existing settings stay: PULUMI_BACKEND_URL, PULUMI_HOME, the passphrase, and the login of your
    own Pulumi (HOLDFAST_PULUMI=path uses the one on PATH). Otherwise the state is kept in the
    state folder of Holdfast, with an empty passphrase, and PATH gets the built toolchain.
    A stack that lives in a sandbox gets its KUBECONFIG. Creates the folders that the variables
    name; starts nothing.

    \b
    Examples:
      eval "$(holdfast env -s dev)"
      pulumi preview -s dev --policy-pack policy-pack
      pulumi refresh -s dev --preview-only --expect-no-changes
    """
    environment = shell_environment(find_project_root(), stack)
    if form == "json":
        document = {"variables": environment.variables, "unset": environment.removed}
        click.echo(json_text(document), nl=False)
    else:
        click.echo(environment.shell_lines(), nl=False)
