"""`holdfast env`: the variables with which a plain `pulumi` works on a stack."""

import click

from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.run.environment import (
    EngineEnvironment,
    engine_environment,
    prepare_engine,
)
from holdfast.adapters.engine.run.executable import find_pulumi
from holdfast.cli.options.stack import stack_option
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.json_text import json_text
from holdfast.sandbox.paths import sandbox_paths


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

    What is set already stays: PULUMI_BACKEND_URL, PULUMI_HOME, the passphrase, and the login of
    your own Pulumi (HOLDFAST_PULUMI=path takes the one on PATH). Otherwise the state is kept in
    the state folder of Holdfast, under an empty passphrase, and PATH gets the built toolchain.
    A stack that lives in a sandbox gets its KUBECONFIG. Creates the folders that the variables
    name; starts nothing.

    \b
    Examples:
      eval "$(holdfast env -s dev)"
      pulumi preview -s dev --policy-pack policy-pack
      pulumi refresh -s dev --preview-only --expect-no-changes
    """
    root = find_project_root()
    kubeconfig = (
        StackContext(root, stack).sandbox_kubeconfig if stack else sandbox_paths().kubeconfig()
    )
    environment = engine_environment(
        find_pulumi(),
        project_backend=read_project(root).backend_url,
        kubeconfig=kubeconfig if kubeconfig and kubeconfig.is_file() else None,
    )
    prepare_engine(environment)
    click.echo(_json(environment) if form == "json" else environment.shell_lines(), nl=False)


def _json(environment: EngineEnvironment) -> str:
    document = {"variables": dict(environment.variables), "unset": list(environment.removed)}
    return json_text(document)
