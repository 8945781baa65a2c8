"""`holdfast operator install`: the kinds, applied to a cluster. Wiring."""

import time
from pathlib import Path

import click

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.adapters.cluster.writing import Writer, apply_object
from holdfast.cli.operator.objects import operator_options
from holdfast.errors import ClusterError
from holdfast.kube.managed_fields import FIELD_MANAGER
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.manifest.agent.agent import API_VERSION

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
_DEFINITIONS = KindEntry("customresourcedefinitions", is_namespaced=False, type_name="")
_DEFINITION = "CustomResourceDefinition"
_SERVED_SECONDS = 60.0


@click.command()
@operator_options
@click.option("--kubeconfig", type=_FILE, help="Default: KUBECONFIG, ~/.kube/config, in-cluster.")
@click.option("--context", help="Context of the kubeconfig; default its current one.")
def command(objects: list[KubeObject], kubeconfig: Path | None, context: str | None) -> None:
    """Give a cluster the kinds of Holdfast, and wait until it serves them.

    Agent, AgentTeam, ModelConfig, MCPServer, PolicyException and DriftIgnore, of holdfast.dev, and
    AgentStack, in which `holdfast reconcile` tells how a stack is. With -s also the operator of
    that stack (`operator manifests` prints it). Repeating it brings everything up to date;
    resources of these kinds stay.

    \b
    Examples:
      holdfast operator install
      holdfast operator install --context prod
      holdfast operator install -s prod --image registry.example/holdfast@sha256:... \\
        --api-server 10.96.0.1/32
    """
    client = ApiClient(connection_of(kubeconfig, context))
    definitions = [each for each in objects if each["kind"] == _DEFINITION]
    _apply(client, definitions)
    wanted = {(API_VERSION, str(each["spec"]["names"]["kind"])) for each in definitions}
    deadline = time.monotonic() + _SERVED_SECONDS
    while wanted - served_kinds(client, sorted(wanted)).keys():
        if time.monotonic() > deadline:
            raise ClusterError(
                f"the cluster does not serve {API_VERSION} after {_SERVED_SECONDS:.0f} s",
                remedy="see `kubectl describe crd agents.holdfast.dev`",
            )
        time.sleep(0.2)
    click.echo(f"{len(definitions)} kinds of {API_VERSION} are served", err=True)
    _apply(client, [each for each in objects if each["kind"] != _DEFINITION])


def _apply(client: ApiClient, objects: list[KubeObject]) -> None:
    for each in objects:
        ref = reference_of(each)
        entry = builtin_kind(ref.api_version, ref.kind) or _DEFINITIONS
        apply_object(client, entry, ref, each, Writer(FIELD_MANAGER))
        click.echo(f"applied {ref}", err=True)
