"""The writes of a revert: guarded, under one field manager, each a single request.

A guard is in every body: the uid and resourceVersion that were read. Another write in between makes
the server refuse, and nothing is overwritten that was not read.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, TypeVar

import msgspec

from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import JSON, ApiClient, path_of
from holdfast.adapters.cluster.json_answers import get_json, written_object
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.structure import KindEntry

_TRIES_BEFORE_NOTE: Final = 5
_APPLY: Final = "application/apply-patch+yaml"
_JSON_PATCH: Final = "application/json-patch+json"
_MERGE_PATCH: Final = "application/merge-patch+json"
_VERSION_POINTER: Final = "/metadata/resourceVersion"
_NO_VERSION: Final = "1"
"""The revision of an empty etcd: the first write of a cluster has the next one."""


T = TypeVar("T")


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
    """Delete exactly the version that was read; where none is named, the object in any.

    Args:
        client: The API server.
        entry: What the kind is called.
        live: The object as it was read.
        is_orphaning: What it owns stays.
        is_trial: The server judges it and keeps the object.

    Raises:
        ClusterError: a write came in between, the server refused, or the outcome is not known.
    """
    ref, metadata = reference_of(live), live["metadata"]
    guards = {key: metadata[key] for key in ("uid", "resourceVersion") if key in metadata}
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
        path = path_of(ref.api_version, entry.plural, ref.namespace, ref.name)
        return get_json(client, path, of=dict[str, Any])
    except ApiError as error:
        if error.is_absent:
            return None
        raise


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
    path = path_of(ref.api_version, entry.plural, ref.namespace, ref.name)
    return _apply(client, path, body, writer)


def apply_status(
    client: ApiClient,
    entry: KindEntry,
    ref: ObjectRef,
    body: KubeObject,
    writer: Writer,
) -> KubeObject:
    """The same for the status of an object that exists.

    Raises:
        ClusterError: there is no such object, the server refused, or the outcome is not known.
    """
    path = path_of(ref.api_version, entry.plural, ref.namespace, ref.name)
    return _apply(client, f"{path}/status", body, writer)


def _apply(client: ApiClient, path: str, body: KubeObject, writer: Writer) -> KubeObject:
    answer = client.write(
        "PATCH",
        path,
        msgspec.json.encode(body),
        content_type=_APPLY,
        query={**writer.query, "force": "true"},
    )
    return written_object(answer, f"PATCH {path}")


def create_object(
    client: ApiClient,
    entry: KindEntry,
    ref: ObjectRef,
    body: KubeObject,
    writer: Writer,
) -> KubeObject | None:
    """Server-side apply that only makes an object; None when there is one of that name.

    No object has the guard's version, so that the server refuses where one exists, and what
    was not read is not taken over: in one request, without a gap.

    Raises:
        ClusterError: the server refused for another reason, or the outcome is not known.
    """
    guarded = {**body, "metadata": {**body["metadata"], "resourceVersion": _NO_VERSION}}
    try:
        return apply_object(client, entry, ref, guarded, writer)
    except ApiError as error:
        if not error.is_conflict:
            raise
        return None


def patch_object(
    client: ApiClient,
    entry: KindEntry,
    ref: ObjectRef,
    operations: Sequence[Mapping[str, Any]],
    writer: Writer,
) -> KubeObject:
    """JSON patch: all operations or none.

    Raises:
        ApiError: a conflict when there is a newer version than the patch tests for;
            else the server's own refusal.
        ClusterError: the outcome is not known.
    """
    try:
        answer = client.write(
            "PATCH",
            path_of(ref.api_version, entry.plural, ref.namespace, ref.name),
            msgspec.json.encode(operations),
            content_type=_JSON_PATCH,
            query=writer.query,
        )
    except ApiError as error:
        # A test that failed is refused without a word of which, like a value that is not valid.
        if error.is_unprocessable and _has_moved_on(read_object(client, ref, entry), operations):
            raise error.as_conflict() from error
        raise
    return written_object(answer, f"PATCH {ref}")


def merge_object(
    client: ApiClient,
    entry: KindEntry,
    ref: ObjectRef,
    change: Mapping[str, Any],
    writer: Writer,
    subresource: str = "",
) -> KubeObject:
    """JSON merge patch of an object that exists.

    Args:
        client: The API server.
        entry: What the kind is called.
        ref: The object.
        change: Fields as they are to be; a `metadata.uid` in it guards against another object of
            that name.
        writer: Who writes.
        subresource: Such as `status`; empty for the object itself.

    Raises:
        ApiError: there is no such object, it is another one, or the server refused.
        ClusterError: the outcome is not known.
    """
    path = path_of(ref.api_version, entry.plural, ref.namespace, ref.name)
    answer = client.write(
        "PATCH",
        f"{path}/{subresource}" if subresource else path,
        msgspec.json.encode(change),
        content_type=_MERGE_PATCH,
        query=writer.query,
    )
    return written_object(answer, f"PATCH {ref}")


def _has_moved_on(live: KubeObject | None, operations: Sequence[Mapping[str, Any]]) -> bool:
    """Whether an object is in another version than a patch tests for, or gone."""
    tested = {each["path"]: each["value"] for each in operations if each["op"] == "test"}
    version = tested.get(_VERSION_POINTER)
    if version is None:
        return False
    return live is None or live["metadata"]["resourceVersion"] != version


def retry_on_conflict(
    work: Callable[[], T],
    patience_seconds: float,
    note_waiting: Callable[[], None] = lambda: None,
) -> T:
    """Read, judge and write; a conflict repeats all of it.

    Controllers write status all the time, in bursts while pods roll, and every write ends the
    version that a guard names. The pauses grow, so that a burst is outlived and not joined.

    Args:
        work: Reads what is there at each call.
        patience_seconds: For how long; it is tried twice at least.
        note_waiting: Called once, when it takes so long that a person would ask why.

    Raises:
        ApiError: others still write after that time; and whatever else `work` raises, at once.
    """
    end = time.monotonic() + patience_seconds
    for tries in count(1):
        try:
            return work()
        except ApiError as error:
            if not error.is_conflict or (time.monotonic() >= end and tries > 1):
                raise
        if tries == _TRIES_BEFORE_NOTE:
            note_waiting()
        # With jitter: two writers that collided must not collide again at the same moment.
        time.sleep(backoff.CONFLICTS.seconds(tries))
    raise AssertionError  # the loop returns or raises
