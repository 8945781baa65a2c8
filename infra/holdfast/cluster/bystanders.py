"""Objects of kinds that nobody declared, in the declaration's namespaces: metadata only.

A rogue pod is of no declared kind, so no LIST of declared kinds shows it. What may not be read here
takes nothing from what was declared and could be checked: it is returned as a note.
"""

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import msgspec

from holdfast.cluster.client import ApiClient, path_of
from holdfast.cluster.listing import CONCURRENT_KINDS, PAGE_OBJECTS, decode_metadata
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.objects import KubeObject
from holdfast.kube.structure import builtin_kind

WATCHED_KINDS: Final = (
    ("v1", "Pod"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("networking.k8s.io/v1", "Ingress"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
)
"""What runs, is reachable, or grants rights."""

_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


class _Item(msgspec.Struct):
    metadata: dict[str, msgspec.Raw]


class _Meta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _Meta
    items: list[_Item] | None = None


_pages: Final = msgspec.json.Decoder(_Page)


@dataclass(frozen=True)
class Bystanders:
    """What stands beside the declared objects.

    Attributes:
        objects: apiVersion, kind and metadata.
        kinds: Group and kind of all that could be read.
        unread: Kinds that could not be, with their namespace.
    """

    objects: tuple[KubeObject, ...] = ()
    kinds: frozenset[tuple[str, str]] = frozenset()
    unread: tuple[str, ...] = ()


def read_bystanders(
    client: ApiClient,
    declared: Collection[tuple[str, str]],
    namespaces: Collection[str],
    selector: str = "",
) -> Bystanders:
    """List the watched kinds that are not declared.

    Args:
        client: The API server.
        declared: apiVersion and kind of what is read anyway.
        namespaces: Where to look; none for the whole cluster, which needs a selector.
        selector: Label selector; empty for all objects.

    Raises:
        LoginError: the credentials are not accepted.
    """
    places = sorted(namespaces) or [""]
    asked = [
        (api_version, kind, place)
        for api_version, kind in WATCHED_KINDS
        if (api_version, kind) not in declared
        for place in places
    ]

    def read(where: tuple[str, str, str]) -> list[KubeObject] | None:
        try:
            return list(_listed(client, where, selector))
        except LoginError:
            raise
        except (ClusterError, msgspec.DecodeError):
            return None

    with ThreadPoolExecutor(CONCURRENT_KINDS) as threads:
        answers = list(threads.map(read, asked))
    return _sorted_out(asked, answers)


def _sorted_out(
    asked: list[tuple[str, str, str]], answers: list[list[KubeObject] | None]
) -> Bystanders:
    both = list(zip(asked, answers, strict=True))
    return Bystanders(
        tuple(one for _, found in both for one in found or ()),
        frozenset(
            (api_version.rpartition("/")[0], kind)
            for (api_version, kind, _), found in both
            if found is not None
        ),
        tuple(f"{kind} in {place}" for (_, kind, place), found in both if found is None),
    )


def _listed(client: ApiClient, where: tuple[str, str, str], selector: str) -> Iterable[KubeObject]:
    api_version, kind, namespace = where
    entry = builtin_kind(api_version, kind)
    assert entry is not None  # noqa: S101  (the watched kinds are built in)
    query: dict[str, str | int] = {"limit": PAGE_OBJECTS}
    if selector:
        query["labelSelector"] = selector
    while True:
        body = client.get(path_of(api_version, entry.plural, namespace), query, _METADATA_ONLY)
        page = _pages.decode(body)
        for item in page.items or ():
            metadata: Mapping[str, object] = decode_metadata(item.metadata)
            yield {"apiVersion": api_version, "kind": kind, "metadata": metadata}
        if not page.metadata.continue_:
            return
        query["continue"] = page.metadata.continue_
