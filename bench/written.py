"""Which objects were written by us: told by what the server keeps of every owner's fields.

Controllers write statuses all the time. An object's uid and our entry among its managed fields
change only when it is made anew, or when what we declare of it is written.
"""

from collections.abc import Iterable

import msgspec
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.kube.objects import KubeObject

MANAGER = "holdfast"

Key = tuple[str, str]
"""Plural of a kind, and name."""


def declared_versions(
    client: ApiClient, places: Iterable[tuple[str, str, str]]
) -> dict[Key, bytes]:
    """Every object of some places to what changes when we write it.

    Args:
        client: Of the API server.
        places: apiVersion, plural and namespace (empty for the whole cluster) of each kind.
    """
    return {
        (plural, str(one["metadata"]["name"])): version_of(one)
        for api_version, plural, namespace in places
        for one in list_whole(client, api_version, plural, namespace)
    }


def written_between(before: dict[Key, bytes], after: dict[Key, bytes]) -> set[Key]:
    """Objects that were made, written or deleted."""
    return {key for key in before.keys() | after if before.get(key) != after.get(key)}


def version_of(one: KubeObject) -> bytes:
    """What changes when we write an object, or make it anew."""
    entries = one["metadata"].get("managedFields") or []
    ours = [each for each in entries if each.get("manager") == MANAGER]
    return msgspec.json.encode([one["metadata"]["uid"], ours], order="sorted")
