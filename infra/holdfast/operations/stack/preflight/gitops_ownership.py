"""An update of what a GitOps engine manages is refused: two managers would overwrite each other.

Only what the update would create is checked: what the stack's record has, Holdfast deploys already.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.adapters.engine.results import RunResult
from holdfast.drift.cause.owners import ENGINES, engine_of
from holdfast.drift.unmanaged import stack_selector
from holdfast.errors import HoldfastError, InputError
from holdfast.kube.objects import ObjectRef, api_group, reference_of
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.manifest.publish.custom_resource import plural_of
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext

_CREATE = "create"
_MOST_NAMED = 2
_REQUEST_SECONDS = 30.0


class ManagedElsewhereError(InputError):
    """A GitOps engine manages what an update would create."""


def ensure_not_managed_elsewhere(
    context: StackContext, planned: RunResult, progress: Progress
) -> None:
    """Refuse an update that would create objects which Flux or Argo CD manages.

    Args:
        context: The stack.
        planned: What a preview would do.
        progress: Takes what cannot be known: it is no reason to refuse.

    Raises:
        ManagedElsewhereError: an engine manages some of it.
    """
    made = {
        each.reference.identity: each.reference
        for each in planned.steps
        if each.operation == _CREATE and each.reference is not None
    }
    if not made:
        return
    try:
        found = {
            ref: engine
            for live in _live_objects(context, made.values())
            if (ref := reference_of(live)).identity in made and (engine := engine_of(live))
        }
    except HoldfastError as error:
        progress.note(f"not known whether a GitOps engine manages this stack: {error}")
        return
    if found:
        raise _refusal(context.name, found)


def _refusal(stack: str, found: Mapping[ObjectRef, str]) -> ManagedElsewhereError:
    manager = Counter(found.values()).most_common(1)[0][0]
    named = ", ".join(str(ref) for ref in sorted(found)[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    engine = ENGINES[manager]
    return ManagedElsewhereError(
        f"these objects are already managed by {engine} ({manager}): {named}{more}; two managers "
        "would overwrite each other",
        remedy=f"change what {engine} deploys; or suspend it and run `holdfast up -s {stack} "
        "--take-over` once",
    )


def _live_objects(stack: StackContext, wanted: Iterable[ObjectRef]) -> Iterator[Mapping[str, Any]]:
    """Live objects of the kinds in question that carry the stack's labels."""
    connection = connection_of(stack.sandbox_kubeconfig, stack.kube_context)
    client = ApiClient(connection, _REQUEST_SECONDS)
    selector = stack_selector(stack.name.rpartition("/")[2])
    for api_version, kind in sorted({(each.api_version, each.kind) for each in wanted}):
        entry = known_entry(api_version, kind)
        if entry is None:
            continue
        try:
            listed = list_whole(client, api_version, entry.plural, "", selector)
        except ApiError as error:
            if not error.is_absent:
                raise
            continue  # nothing manages what the cluster does not serve
        for live in listed:
            yield {"apiVersion": api_version, "kind": kind, **live}


def known_entry(api_version: str, kind: str) -> KindEntry | None:
    """How a kind is called in URLs; an engine delivers none of a stack without one of these."""
    if api_group(api_version) == api_group(API_VERSION):
        return KindEntry(plural_of(kind), is_namespaced=True, type_name="")
    return builtin_kind(api_version, kind)
