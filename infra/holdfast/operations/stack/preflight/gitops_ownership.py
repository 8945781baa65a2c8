"""An update of what a GitOps engine delivers is refused: two who deliver take it from each other.

Only what the update would make is looked at: what the stack's record has, Holdfast deploys already.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.results import RunResult
from holdfast.drift.cause.delivery import ENGINES, engine_of
from holdfast.drift.unmanaged import stack_selector
from holdfast.errors import HoldfastError, InputError
from holdfast.kube.objects import ObjectRef, api_group, reference_of
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.manifest.agent.agent import API_VERSION
from holdfast.manifest.publish.custom_resource import plural_of
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.stack.context import StackContext

_CREATE = "create"
_MOST_NAMED = 2
_REQUEST_SECONDS = 30.0


class DeliveredElsewhereError(InputError):
    """Another engine delivers what an update would make."""


def refuse_delivered(
    root: Path, stack: str, planned: RunResult, tell: Callable[[str], None]
) -> None:
    """Refuse an update that would make objects which Flux or Argo CD delivers.

    Args:
        root: Folder of the project.
        stack: Name of the stack.
        planned: What a preview would do.
        tell: Takes what cannot be known: it is no reason to refuse.

    Raises:
        DeliveredElsewhereError: an engine delivers some of it.
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
            for live in _live_objects(root, stack, made.values())
            if (ref := reference_of(live)).identity in made and (engine := engine_of(live))
        }
    except HoldfastError as error:
        tell(f"not known whether a GitOps engine delivers this stack: {error}")
        return
    if found:
        raise _refusal(stack, found)


def _refusal(stack: str, found: Mapping[ObjectRef, str]) -> DeliveredElsewhereError:
    manager = Counter(found.values()).most_common(1)[0][0]
    named = ", ".join(str(ref) for ref in sorted(found)[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    engine = ENGINES[manager]
    return DeliveredElsewhereError(
        f"{engine} delivers this stack already ({manager}): {named}{more}; two who deliver take "
        "the objects from each other",
        remedy=f"change what {engine} delivers; or suspend it and run `holdfast up -s {stack} "
        "--take-over` once",
    )


def _live_objects(
    root: Path, stack: str, wanted: Iterable[ObjectRef]
) -> Iterator[Mapping[str, Any]]:
    """Live objects of the kinds in question that carry the stack's labels."""
    from holdfast.adapters.cluster.api_error import ApiError  # noqa: PLC0415  (loads the client)
    from holdfast.adapters.cluster.client import ApiClient  # noqa: PLC0415  (as above)
    from holdfast.adapters.cluster.kubeconfig import connection_of  # noqa: PLC0415  (as above)
    from holdfast.adapters.cluster.whole_objects import list_whole  # noqa: PLC0415  (as above)

    settings = read_stack_file(root, stack).environment
    context = settings.cluster.context if settings is not None else None
    client = ApiClient(
        connection_of(StackContext(root, stack).sandbox_kubeconfig, context), _REQUEST_SECONDS
    )
    selector = stack_selector(stack.rpartition("/")[2])
    for api_version, kind in sorted({(each.api_version, each.kind) for each in wanted}):
        entry = _entry(api_version, kind)
        if entry is None:
            continue
        try:
            listed = list_whole(client, api_version, entry.plural, "", selector)
        except ApiError as error:
            if not error.is_absent:
                raise
            continue  # nobody delivers what the cluster does not serve
        for live in listed:
            yield {"apiVersion": api_version, "kind": kind, **live}


def _entry(api_version: str, kind: str) -> KindEntry | None:
    """How a kind is called in URLs; an engine delivers none of a stack without one of these."""
    if api_group(api_version) == api_group(API_VERSION):
        return KindEntry(plural_of(kind), is_namespaced=True, type_name="")
    return builtin_kind(api_version, kind)
