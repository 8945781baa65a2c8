"""The writes of a revert: guarded, under one field manager, each a single request.

A guard is in every body: the uid and resourceVersion that were read. Whoever wrote in between makes
the server refuse, and nothing is overwritten that was not looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from holdfast.cluster.api_error import ApiError
from holdfast.cluster.client import JSON, ApiClient, path_of
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.structure import KindEntry

_APPLY: Final = "application/apply-patch+yaml"
_JSON_PATCH: Final = "application/json-patch+json"


@dataclass(frozen=True)
class Writer:
    """Under which name is written, and whether it is only tried.

    Attributes:
        is_trial: The server judges the write as it would, and keeps nothing.
    """

    field_manager: str
    is_trial: bool = False

    @property
    def query(self) -> dict[str, str | int]:
        """As the API server takes it."""
        trial = {"dryRun": "All"} if self.is_trial else {}
        return {"fieldManager": self.field_manager, **trial}


def delete_object(
    client: ApiClient, entry: KindEntry, live: KubeObject, *, is_orphaning: bool, is_trial: bool
) -> None:
    """Delete exactly the version that was read.

    Args:
        client: The API server.
        entry: What the kind is called.
        live: The object as it was read.
        is_orphaning: What it owns stays.
        is_trial: The server judges it and keeps the object.

    Raises:
        ClusterError: somebody wrote in between, the server refused, or the outcome is not known.
    """
    ref, metadata = reference_of(live), live["metadata"]
    guards = {key: metadata[key] for key in ("uid", "resourceVersion")}
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": guards,
        "propagationPolicy": "Orphan" if is_orphaning else "Background",
        **({"dryRun": ["All"]} if is_trial else {}),
    }
    client.write(
        "DELETE",
        path_of(ref.api_version, entry.plural, ref.namespace, ref.name),
        msgspec.json.encode(options),
        content_type=JSON,
    )


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
    client: ApiClient,
    entry: KindEntry,
    ref: ObjectRef,
    body: KubeObject,
    writer: Writer,
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
        query={**writer.query, "force": "true"},
    )
    written: KubeObject = msgspec.json.decode(answer)
    return written


def patch_object(
    client: ApiClient,
    entry: KindEntry,
    ref: ObjectRef,
    operations: Sequence[Mapping[str, Any]],
    writer: Writer,
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
        query=writer.query,
    )
    written: KubeObject = msgspec.json.decode(answer)
    return written
