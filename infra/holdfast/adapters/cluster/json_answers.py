"""Answers of an API server as JSON: a truncated one is requested again, not half believed."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from holdfast.adapters.cluster.api_error import UnreachableError
from holdfast.adapters.cluster.client import JSON, ApiClient, path_of
from holdfast.kube.objects import KubeObject

MOST_TRIES: Final = 3
T = TypeVar("T")


def get_json(
    client: ApiClient,
    path: str,
    query: Mapping[str, str | int] | None = None,
    *,
    of: type[T],
    accept: str = JSON,
) -> T:
    """What stands at a path.

    Args:
        client: The API server.
        path: URL path.
        query: Its parameters.
        of: Type to decode to.
        accept: Media type to ask for.

    Raises:
        ClusterError: it could not be read, or every answer was broken.
    """
    for tries_left in reversed(range(MOST_TRIES)):
        body = client.get(path, query, accept)
        try:
            return msgspec.json.decode(body, type=of)
        except msgspec.DecodeError as error:
            if not tries_left:
                message = f"GET {path}: an unreadable answer ({error})"
                raise UnreachableError(
                    message, remedy="check the proxies on the way to the API server"
                ) from error
    raise AssertionError  # the last try returns or raises


def written_object(answer: bytes, path: str) -> KubeObject:
    """What a write has answered.

    Raises:
        ClusterError: it was broken: whether it was done is not known.
    """
    try:
        written: dict[str, Any] = msgspec.json.decode(answer, type=dict[str, Any])
    except msgspec.DecodeError as error:
        message = f"{path}: the answer to a write is unreadable ({error})"
        raise UnreachableError(
            message, remedy="check whether it was applied, then run it again"
        ) from error
    return written


PAGE_OBJECTS: Final = 500


def list_whole(
    client: ApiClient,
    api_version: str,
    plural: str,
    namespace: str = "",
    selector: str = "",
    *,
    fields: str = "",
) -> list[KubeObject]:
    """Every object of a kind, status included.

    Args:
        client: The API server.
        api_version: Such as `v1`.
        plural: Name of the resource, such as `pods`.
        namespace: Empty for the whole cluster.
        selector: Label selector; empty for all.
        fields: Field selector; empty for all.

    Raises:
        ClusterError: they cannot be listed; never a part of them.
    """
    query: dict[str, str | int] = {"limit": PAGE_OBJECTS}
    if selector:
        query["labelSelector"] = selector
    if fields:
        query["fieldSelector"] = fields
    found: list[KubeObject] = []
    while True:
        page = read_whole(client, path_of(api_version, plural, namespace), query)
        found += page.get("items") or ()
        token = (page.get("metadata") or {}).get("continue")
        if not token:
            return found
        query["continue"] = token


def read_whole(
    client: ApiClient, path: str, query: dict[str, str | int] | None = None
) -> dict[str, Any]:
    """A JSON object at a path of the API server.

    Raises:
        ClusterError: there is none, or it may not be read.
    """
    return get_json(client, path, query, of=dict[str, Any])
