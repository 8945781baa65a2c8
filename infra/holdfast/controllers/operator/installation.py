"""The operator of a stack put into its cluster: the kinds first, then what runs it."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast import __version__
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.adapters.cluster.writing import Writer, apply_object
from holdfast.controllers.operator.manifests import OperatorRequest, operator_objects
from holdfast.errors import ClusterError, InputError
from holdfast.kube.managed_fields import FIELD_MANAGER
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext
from holdfast.render.plan.planning import plan_fleet

_DEFINITIONS: Final = KindEntry("customresourcedefinitions", is_namespaced=False, type_name="")
_DEFINITION: Final = "CustomResourceDefinition"
_SERVED_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class OperatorImage:
    """Which operator.

    Attributes:
        image: Image with `holdfast`, by its digest.
        owner: Team that answers for it.
        api_servers: CIDRs of the API server, all that it may reach.
    """

    image: str
    owner: str
    api_servers: tuple[str, ...]


def operator_of(context: StackContext, operator: OperatorImage) -> list[KubeObject]:
    """The kinds of Holdfast and the operator of a stack, as objects.

    The cluster is only asked when the stack renders kinds that are not Kubernetes' own.

    Raises:
        InputError: the stack has no agents as resources.
        ClusterError: the cluster cannot be asked.
    """
    environment, name = context.fleet.environment, context.name.rpartition("/")[2]
    if environment.agent_resources.mode == "off":
        raise InputError(
            f"stack {name} has no agents as resources",
            remedy="set holdfast:agentResources: {mode: observe} in its stack file",
        )
    request = OperatorRequest(
        name, operator.image, __version__, operator.owner, operator.api_servers, environment
    )
    keys = {(str(one["apiVersion"]), str(one["kind"])) for one in context.objects}
    foreign = sorted(key for key in keys if builtin_kind(*key) is None)
    kinds = {}
    if foreign:
        client = ApiClient(connection_of(context.kubeconfig, context.kube_context))
        kinds = served_kinds(client, foreign)
    return operator_objects(request, plan_fleet(context.fleet, name), context.rendered, kinds)


def install(
    objects: Sequence[KubeObject],
    progress: Progress,
    kubeconfig: Path | None = None,
    context: str | None = None,
) -> None:
    """Apply the definitions, wait until the cluster serves them, and apply the rest.

    Args:
        objects: Of the operator and its kinds.
        progress: Takes a step for each object.
        kubeconfig: Default: the usual ones, else the pod's own account.
        context: Of the kubeconfig; None for the current one.

    Raises:
        InputError: there is no such context.
        ClusterError: the server refused, or does not serve the kinds in time.
    """
    client = ApiClient(connection_of(kubeconfig, context))
    definitions = [each for each in objects if each["kind"] == _DEFINITION]
    _apply(client, definitions, progress)
    wanted = {(API_VERSION, str(each["spec"]["names"]["kind"])) for each in definitions}
    deadline = time.monotonic() + _SERVED_SECONDS
    while wanted - served_kinds(client, sorted(wanted)).keys():
        if time.monotonic() > deadline:
            raise ClusterError(
                f"the cluster does not serve {API_VERSION} after {_SERVED_SECONDS:.0f} s",
                remedy="see `kubectl describe crd agents.holdfast.dev`",
            )
        time.sleep(_LOOK_SECONDS)
    progress.step(f"{len(definitions)} kinds of {API_VERSION} are served")
    _apply(client, (each for each in objects if each["kind"] != _DEFINITION), progress)


def _apply(client: ApiClient, objects: Iterable[KubeObject], progress: Progress) -> None:
    for each in objects:
        ref = reference_of(each)
        entry = builtin_kind(ref.api_version, ref.kind) or _DEFINITIONS
        apply_object(client, entry, ref, each, Writer(FIELD_MANAGER))
        progress.step(f"applied {ref}")
