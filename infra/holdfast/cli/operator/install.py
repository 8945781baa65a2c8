"""`holdfast operator install`: the kinds, applied to a cluster."""

from pathlib import Path

import click

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.cli.operator.objects import operator_options
from holdfast.cli.options.progress import TerminalProgress
from holdfast.controllers.operator.installation import install
from holdfast.kube.objects import KubeObject

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command()
@operator_options
@click.option("--kubeconfig", type=_FILE, help="Default: KUBECONFIG, ~/.kube/config, in-cluster.")
@click.option("--context", help="Context of the kubeconfig; default its current one.")
def command(objects: list[KubeObject], kubeconfig: Path | None, context: str | None) -> None:
    """Give a cluster the kinds of Holdfast, and wait until it serves them.

    Agent, AgentTeam, ModelConfig, MCPServer, PolicyException and DriftIgnore, of holdfast.dev, and
    AgentStack, in which `holdfast reconcile` reports how a stack is. With -s also the operator of
    that stack (`operator manifests` prints it). Repeating it brings everything up to date;
    resources of these kinds stay.

    \b
    Examples:
      holdfast operator install
      holdfast operator install --context prod
      holdfast operator install -s prod --image registry.example/holdfast@sha256:... \\
        --api-server 10.96.0.1/32
    """
    install(ApiClient(connection_of(kubeconfig, context)), objects, TerminalProgress())
