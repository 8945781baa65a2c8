"""What a cluster offers to a new stack: kinds of controllers, addresses of the API server."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.json_answers import get_json, list_whole
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.errors import ClusterError, InputError
from holdfast.kube.objects import KindKey, KubeObject
from holdfast.manifest.stack.controllers import CONTROLLERS, ControllerName
from holdfast.sandbox.paths import sandbox_kubeconfig

ANSWER_SECONDS: Final = 10.0
"""A cluster that nobody named is not waited for any longer."""
_SHARED_GROUPS: Final[dict[ControllerName, KindKey]] = {
    "argo-cd": ("argoproj.io/v1alpha1", "Application"),
    "argo-rollouts": ("argoproj.io/v1alpha1", "Rollout"),
}
"""Controllers that share a group with others, and a kind that is theirs alone."""
_FLUX_SUFFIX: Final = ".toolkit.fluxcd.io"
WITHOUT_KINDS: Final[tuple[ControllerName, ...]] = ("cloud-provider", "helm", "vault-injector")
"""Controllers that define no kind: a cluster cannot be asked for them."""


@dataclass(frozen=True)
class ClusterSurvey:
    """What a cluster said.

    Attributes:
        context: Context of the kubeconfig; empty inside a pod.
        controllers: Those whose kinds it serves, sorted.
        api_server: Addresses of its API server, each as a range of one address.
        api_server_port: Their port.
        notes: What could not be found out, and why.
    """

    context: str
    controllers: tuple[ControllerName, ...] = ()
    api_server: tuple[str, ...] = ()
    api_server_port: int = 0
    notes: tuple[str, ...] = ()


class _OfferedGroup(msgspec.Struct):
    name: str


class _OfferedGroups(msgspec.Struct):
    groups: list[_OfferedGroup] = []


def survey_cluster(kubeconfig: Path | None, context: str | None) -> ClusterSurvey:
    """Ask a cluster what it offers; nothing is changed.

    Args:
        kubeconfig: Default: as kubectl finds it.
        context: Default: the current one.

    Raises:
        InputError: there is no such kubeconfig or context.
        ClusterError: the cluster does not answer.
    """
    if kubeconfig is None and context is not None:
        kubeconfig = sandbox_kubeconfig(context)
    connection = connection_of(kubeconfig, context)
    client = ApiClient(connection, ANSWER_SECONDS)
    groups = {each.name for each in get_json(client, "/apis", of=_OfferedGroups).groups}
    shared = served_kinds(client, _SHARED_GROUPS.values()) if _shares(groups) else {}
    return _with_api_server(
        ClusterSurvey(connection.context, tuple(sorted(_controllers(groups, set(shared))))),
        client,
    )


def current_cluster(kubeconfig: Path | None) -> tuple[ClusterSurvey | None, str]:
    """What the current context's cluster offers, where there is one that answers.

    Returns:
        The survey and an empty text; or None and why there is none.
    """
    try:
        return survey_cluster(kubeconfig, None), ""
    except (InputError, ClusterError) as error:
        return None, error.message


def _shares(groups: set[str]) -> bool:
    return any(version.partition("/")[0] in groups for version, _ in _SHARED_GROUPS.values())


def _controllers(groups: set[str], shared: set[KindKey]) -> Iterable[ControllerName]:
    for name, controller in CONTROLLERS.items():
        if name in _SHARED_GROUPS:
            if _SHARED_GROUPS[name] in shared:
                yield name
        elif name == "flux":
            if any(group.endswith(_FLUX_SUFFIX) for group in groups):
                yield name
        elif groups.intersection(controller.groups):
            yield name


def _with_api_server(survey: ClusterSurvey, client: ApiClient) -> ClusterSurvey:
    """The survey, with the addresses that network rules need of agents that ask the API server."""
    try:
        slices = list_whole(
            client,
            "discovery.k8s.io/v1",
            "endpointslices",
            "default",
            "kubernetes.io/service-name=kubernetes",
        )
    except ClusterError as error:
        note = f"the API server's addresses were not read: {error.message}"
        return replace(survey, notes=(note,))
    addresses = sorted({address for each in slices for address in _addresses(each)})
    ports = {port["port"] for each in slices for port in each.get("ports") or () if "port" in port}
    if not addresses or len(ports) != 1:
        return survey
    return replace(survey, api_server=tuple(addresses), api_server_port=ports.pop())


def _addresses(one: KubeObject) -> Iterable[str]:
    length = {"IPv4": 32, "IPv6": 128}.get(one.get("addressType", ""))
    for endpoint in one.get("endpoints") or () if length else ():
        yield from (f"{address}/{length}" for address in endpoint.get("addresses") or ())
