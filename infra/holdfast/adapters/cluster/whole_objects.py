"""Objects with their status, for those who ask what came of a declaration."""

from typing import Any, Final

from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.json_answers import get_json
from holdfast.kube.objects import KubeObject

PAGE_OBJECTS: Final = 500


def list_whole(
    client: ApiClient, api_version: str, plural: str, namespace: str = "", selector: str = ""
) -> list[KubeObject]:
    """Every object of a kind, status included.

    Args:
        client: The API server.
        api_version: Such as `v1`.
        plural: Name of the resource, such as `pods`.
        namespace: Empty for the whole cluster.
        selector: Label selector; empty for all.

    Raises:
        ClusterError: they cannot be listed; never a part of them.
    """
    query: dict[str, str | int] = {"limit": PAGE_OBJECTS}
    if selector:
        query["labelSelector"] = selector
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
