"""The requests of a planned revert of one object that exists: tried, or sent."""

from typing import Final

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.writing import (
    Writer,
    apply_object,
    patch_object,
    read_object,
    retry_on_conflict,
)
from holdfast.drift.plan.revert import ObjectPlan
from holdfast.drift.plan.whole_patch import ownership_patch
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.structure import KindEntry

_OWNING_SECONDS: Final = 5.0
"""How long a record of owners is written again when other clients write in between."""


def write_revert(
    client: ApiClient, entry: KindEntry, plan: ObjectPlan, writer: Writer
) -> KubeObject | None:
    """Write what a plan says of an object that exists; None when it says nothing.

    Raises:
        ClusterError: another client wrote in between, the server refused, or the outcome is not
            known.
    """
    written, body = None, plan.apply
    if plan.patch:
        written = patch_object(client, entry, plan.ref, plan.patch, writer)
        if plan.owns and not writer.is_trial:
            written = _owned(client, entry, plan.ref, writer) or written
        if body is not None and not writer.is_trial:
            version = written["metadata"]["resourceVersion"]
            body = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
    if body is not None:
        written = apply_object(client, entry, plan.ref, body, writer)
    return written


def _owned(
    client: ApiClient, entry: KindEntry, ref: ObjectRef, writer: Writer
) -> KubeObject | None:
    """Record the fields that were patched as applied; their values are written already."""

    def own() -> KubeObject | None:
        live = read_object(client, ref, entry)
        operations = ownership_patch(live, writer.field_manager) if live is not None else ()
        return patch_object(client, entry, ref, operations, writer) if operations else None

    try:
        return retry_on_conflict(own, _OWNING_SECONDS)
    except ApiError:
        return None  # the values are as declared: only their owner is not
