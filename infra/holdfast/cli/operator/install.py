"""`holdfast operator install`: applies or prints the kinds and a stack's operator."""

from pathlib import Path
from typing import Any

import click

from holdfast.cli.options.output import TERMINAL
from holdfast.cli.options.stack import stack_option
from holdfast.controllers.operator.installation import OperatorImage, install, operator_of
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject
from holdfast.kube.text import yaml_documents
from holdfast.manifest.publish.custom_resource import custom_resource_definitions
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command()
@stack_option("Also the operator of this stack.", required=False)
@click.option("--image", default="", metavar="NAME@DIGEST", help="Image with holdfast in it.")
@click.option("--owner", default="platform", show_default=True, help="Team that owns the operator.")
@click.option(
    "--api-server",
    "api_servers",
    multiple=True,
    metavar="CIDR",
    help="Address of the API server, the only one that it may reach; repeatable.",
)
@click.option("--export", is_flag=True, help="Print the objects as YAML; apply nothing.")
@click.option("--kubeconfig", type=_FILE, help="Default: KUBECONFIG, ~/.kube/config, in-cluster.")
@click.option("--context", help="Context of the kubeconfig; default its current.")
def command(
    kubeconfig: Path | None,
    context: str | None,
    *,
    export: bool,
    **wanted: Any,  # noqa: ANN401  (the other options, by name)
) -> None:
    """Apply the definitions of Holdfast's kinds to a cluster, and wait until it serves them.

    The kinds are Agent, AgentTeam, ModelConfig, MCPServer, PolicyException and DriftIgnore of
    holdfast.dev, and AgentStack, in which `holdfast gitops run` reports the state of a stack.

    With -s also the operator of that stack: two replicas of which one holds a lease, with rights
    to read exactly the kinds that the stack renders, and to write only what it reverts or applies.
    Run it again to update; resources of these kinds stay.

    \b
    Examples:
      holdfast operator install --context prod
      holdfast operator install --export | kubectl apply --server-side -f -
      holdfast operator install -s prod \\
        --image registry.example/holdfast@sha256:... \\
        --api-server 10.0.0.10/32
    """
    objects = _objects(**wanted)
    if not export:
        install(objects, TERMINAL, kubeconfig, context)
        return
    if kubeconfig or context:
        raise InputError(
            "--kubeconfig and --context have no effect with --export", remedy="remove them"
        )
    click.echo(yaml_documents(objects), nl=False)


def _objects(stack: str, image: str, owner: str, api_servers: tuple[str, ...]) -> list[KubeObject]:
    if not stack:
        if image or api_servers:
            raise InputError("--image and --api-server describe an operator", remedy="add -s")
        return custom_resource_definitions()
    if not (image and api_servers):
        raise InputError(
            "the operator of a stack needs --image and --api-server",
            remedy="`kubectl get endpoints kubernetes -n default` names the API server",
        )
    context = StackContext(find_project_root(), stack)
    return operator_of(context, OperatorImage(image, owner, api_servers))
