"""`holdfast operator install`: the kinds, applied to a cluster. Wiring."""

import time
from pathlib import Path

import click

from holdfast.cluster.client import ApiClient
from holdfast.cluster.kinds import served_kinds
from holdfast.cluster.kubeconfig import connection_of
from holdfast.cluster.writing import Writer, apply_object
from holdfast.errors import ClusterError
from holdfast.kube.objects import reference_of
from holdfast.kube.structure import KindEntry
from holdfast.manifest.agent import API_VERSION
from holdfast.manifest.custom_resource import custom_resource_definitions
from holdfast.render.marks import FIELD_MANAGER

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
_DEFINITIONS = KindEntry("customresourcedefinitions", is_namespaced=False, type_name="")
_SERVED_SECONDS = 60.0


@click.command()
@click.option("--kubeconfig", type=_FILE, help="Default: KUBECONFIG, ~/.kube/config, in-cluster.")
@click.option("--context", help="Context of the kubeconfig; default its current one.")
def command(kubeconfig: Path | None, context: str | None) -> None:
    """Give a cluster the kinds of Holdfast, and wait until it serves them.

    Agent, AgentTeam, ModelConfig, MCPServer, PolicyException and DriftIgnore, of holdfast.dev.
    Repeating it brings them up to date; resources of these kinds stay.

    \b
    Examples:
      holdfast operator install
      holdfast operator install --context prod
    """
    client = ApiClient(connection_of(kubeconfig, context))
    definitions = custom_resource_definitions()
    for each in definitions:
        apply_object(client, _DEFINITIONS, reference_of(each), each, Writer(FIELD_MANAGER))
        click.echo(f"applied {each['metadata']['name']}", err=True)
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
