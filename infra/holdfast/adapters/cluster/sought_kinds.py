"""Which of the kinds that are looked for a server serves, and how each is listed.

Source: Kubernetes documentation, "Aggregated Discovery" (apidiscovery.k8s.io/v2).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import msgspec

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import JSON, ApiClient
from holdfast.adapters.cluster.kind_reader import METADATA_ONLY, ListOptions
from holdfast.drift.looked_for import LOOKED_FOR, SoughtKind
from holdfast.kube.objects import KindKey, ObjectRef
from holdfast.kube.structure import KindEntry

_DISCOVERY: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)


@dataclass(frozen=True)
class ServedKind:
    """A kind that is looked for, as the server serves it.

    Attributes:
        sought: What is known of the kind.
        api_version: In which it is served.
    """

    sought: SoughtKind
    api_version: str

    @property
    def key(self) -> KindKey:
        """API version and kind."""
        return self.api_version, self.sought.kind

    @property
    def entry(self) -> KindEntry:
        """What the kind is called; its type is not needed."""
        return KindEntry(self.sought.plural, self.sought.is_namespaced, "")

    def question(self, selector: str) -> ListOptions:
        """How it is listed: metadata only, where that is enough to judge."""
        accept = JSON if self.sought.is_whole else METADATA_ONLY
        return ListOptions(accept, selector, field_selector=self.sought.field_selector)

    def anywhere_in(self, namespaces: Collection[str]) -> list[ObjectRef]:
        """References without a name, one for each place to look in."""
        places = sorted(namespaces) if self.sought.is_namespaced else [""]
        return [ObjectRef(place, self.sought.kind, "", self.api_version) for place in places]


class _Named(msgspec.Struct):
    name: str = ""


class _Resource(msgspec.Struct):
    resource: str = ""


class _Version(msgspec.Struct):
    version: str = ""
    resources: list[_Resource] = []


class _ServedGroup(msgspec.Struct):
    metadata: _Named = msgspec.field(default_factory=_Named)
    versions: list[_Version] = []


class _Discovery(msgspec.Struct):
    items: list[_ServedGroup] = []


def kinds_beside(client: ApiClient, declared: Collection[KindKey]) -> tuple[ServedKind, ...]:
    """The kinds to look for beside those that are declared: built in, or served by this server.

    Args:
        client: The API server.
        declared: apiVersion and kind of what is read anyway.

    Raises:
        LoginError: the credentials are not accepted.
        ClusterError: the server cannot be reached.
    """
    declared_kinds = {(api_version.rpartition("/")[0], kind) for api_version, kind in declared}
    wanted = [row for key, row in LOOKED_FOR.items() if key not in declared_kinds]
    served = _served_versions(client)
    found = (ServedKind(row, row.api_version) for row in wanted if row.version)
    others = (
        ServedKind(row, f"{row.group}/{served[row.group, row.plural]}")
        for row in wanted
        if (row.group, row.plural) in served
    )
    return (*found, *others)


def _served_versions(client: ApiClient) -> dict[tuple[str, str], str]:
    """Group and plural of the kinds of others that are served, to the version to ask in."""
    others = {(row.group, row.plural) for row in LOOKED_FOR.values() if not row.version}
    try:
        answer = msgspec.json.decode(client.get("/apis", {}, _DISCOVERY), type=_Discovery)
    except (ApiError, msgspec.DecodeError):
        return {}
    served: dict[tuple[str, str], str] = {}
    for group in answer.items:
        for version in group.versions:  # the preferred one first
            for resource in version.resources:
                key = (group.metadata.name, resource.resource)
                if key in others:
                    served.setdefault(key, version.version)
    return served
