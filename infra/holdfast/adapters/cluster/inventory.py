"""Everything of some kinds that a cluster runs, whatever deployed it.

Kinds are named by group and name: the version is the one that the server prefers. A kind that is
not served has no objects; one that may not be read is reported.
"""

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.json_answers import PAGE_OBJECTS, get_json, list_whole
from holdfast.adapters.cluster.kind_reader import METADATA_ONLY, unread_reason
from holdfast.adapters.cluster.kinds import resources_of
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.objects import KubeObject
from holdfast.kube.structure import KindEntry

GroupKind = tuple[str, str]
"""API group, empty for the core group, and kind."""

TOKEN_SECRET: Final = "kubernetes.io/service-account-token"  # noqa: S105  # a type, no secret
_SECRET: Final = ("", "Secret")
_CONCURRENT_KINDS: Final = 4


class _Group(msgspec.Struct, rename="camel"):
    class _ServedVersion(msgspec.Struct, rename="camel"):
        group_version: str

    name: str
    versions: list[_ServedVersion]
    preferred_version: _ServedVersion


class _Groups(msgspec.Struct):
    groups: list[_Group] = []


@dataclass(frozen=True)
class Inventory:
    """What was found.

    Attributes:
        objects: Whole objects; of Secrets, the metadata and type of those that hold a token of a
            ServiceAccount, and nothing of any other.
        unread: Kind and place that could not be read, and why.
    """

    objects: tuple[KubeObject, ...]
    unread: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Served:
    api_version: str
    kind: str
    entry: KindEntry


def read_inventory(
    client: ApiClient, wanted: Iterable[GroupKind], namespaces: Collection[str]
) -> Inventory:
    """All objects of the wanted kinds.

    Args:
        client: The API server.
        wanted: The kinds.
        namespaces: Where to look; everywhere when empty. What belongs to no namespace is always
            looked for.

    Raises:
        ClusterError: the server cannot be asked what it serves.
    """
    places = [
        (served, namespace)
        for served in _served(client, set(wanted))
        for namespace in (sorted(namespaces) if served.entry.is_namespaced and namespaces else [""])
    ]
    objects: list[KubeObject] = []
    unread: list[tuple[str, str]] = []
    with ThreadPoolExecutor(_CONCURRENT_KINDS) as threads:
        for found, reason in threads.map(lambda place: _listed(client, *place), places):
            objects += found
            unread += [reason] if reason else []
    return Inventory(tuple(objects), tuple(unread))


def _listed(
    client: ApiClient, served: _Served, namespace: str
) -> tuple[list[KubeObject], tuple[str, str] | None]:
    """Objects of one kind in one place, or why there are none."""
    scope = f"{served.kind} in {namespace}" if namespace else served.kind
    try:
        if served.kind == _SECRET[1] and "/" not in served.api_version:
            return list(_token_secrets(client, namespace)), None
        found = list_whole(client, served.api_version, served.entry.plural, namespace)
    except LoginError:
        raise
    except ApiError as error:
        return [], (scope, unread_reason(error, served.entry, namespace, "list"))
    except ClusterError as error:
        return [], (scope, str(error))
    named = {"apiVersion": served.api_version, "kind": served.kind}
    return [{**named, **each} for each in found], None


def _token_secrets(client: ApiClient, namespace: str) -> Iterator[KubeObject]:
    """Secrets of one type, of which the server sends metadata only: no value leaves it."""
    query: dict[str, str | int] = {"limit": PAGE_OBJECTS, "fieldSelector": f"type={TOKEN_SECRET}"}
    while True:
        path = path_of("v1", "secrets", namespace)
        page = get_json(client, path, query, of=dict[str, Any], accept=METADATA_ONLY)
        for each in page.get("items") or ():
            metadata = each.get("metadata") or {}
            yield {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": TOKEN_SECRET}
        token = (page.get("metadata") or {}).get("continue")
        if not token:
            return
        query["continue"] = token


def _served(client: ApiClient, wanted: set[GroupKind]) -> Iterator[_Served]:
    """Each wanted kind in the version that the server prefers among those that have it."""
    groups = get_json(client, "/apis", of=_Groups).groups
    versions = {
        each.name: [
            each.preferred_version.group_version,
            *(version.group_version for version in each.versions),
        ]
        for each in groups
    }
    for group in sorted({group for group, _ in wanted}):
        missing = {kind for of_group, kind in wanted if of_group == group}
        for api_version in dict.fromkeys(versions.get(group, []) if group else ["v1"]):
            for resource in resources_of(client, api_version) if missing else ():
                if resource.kind in missing:
                    missing.discard(resource.kind)
                    yield _Served(api_version, resource.kind, resource.entry)
