"""The writes of a revert: guarded, under one field manager, each a single request.

A guard is in every body: the uid and resourceVersion that were read. Whoever wrote in between makes
the server refuse, and nothing is overwritten that was not looked at.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from holdfast.cluster.api_error import ApiError
from holdfast.cluster.client import ApiClient, path_of
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.structure import KindEntry

_APPLY: Final = "application/apply-patch+yaml"
_JSON_PATCH: Final = "application/json-patch+json"


def read_object(client: ApiClient, ref: ObjectRef, entry: KindEntry) -> KubeObject | None:
    """One object with everything it has; None when there is none.

    Raises:
        ClusterError: it could not be read.
    """
    try:
        body = client.get(path_of(ref.api_version, entry.plural, ref.namespace, ref.name))
    except ApiError as error:
        if error.is_absent:
            return None
        raise
    one: KubeObject = msgspec.json.decode(body)
    return one


def apply_object(
    client: ApiClient, entry: KindEntry, ref: ObjectRef, body: KubeObject, field_manager: str
) -> KubeObject:
    """Server-side apply by force; makes the object when there is none.

    Raises:
        ClusterError: the server refused, or nothing is known about the outcome.
    """
    answer = client.write(
        "PATCH",
        path_of(ref.api_version, entry.plural, ref.namespace, ref.name),
        msgspec.json.encode(body),
        content_type=_APPLY,
        query={"fieldManager": field_manager, "force": "true"},
    )
    written: KubeObject = msgspec.json.decode(answer)
    return written


def patch_object(
    client: ApiClient,
    entry: KindEntry,
    ref: ObjectRef,
    operations: Sequence[Mapping[str, Any]],
    field_manager: str,
) -> KubeObject:
    """JSON patch: all operations or none.

    Raises:
        ClusterError: a test failed, the server refused, or the outcome is not known.
    """
    answer = client.write(
        "PATCH",
        path_of(ref.api_version, entry.plural, ref.namespace, ref.name),
        msgspec.json.encode(operations),
        content_type=_JSON_PATCH,
        query={"fieldManager": field_manager},
    )
    written: KubeObject = msgspec.json.decode(answer)
    return written
