"""A deployment of objects that another stack of the cluster has deployed is refused.

Both would write the same objects, each update undoing the other's: a second stack with the same
agents in the same namespaces has taken them over without a word.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import CONNECTIONS, ApiClient
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.errors import InputError
from holdfast.kube.objects import Identity, KubeObject, mapping_at, reference_of
from holdfast.operations.stack.preflight.gitops_ownership import known_entry
from holdfast.render.plan.metadata import RenderedObject

_INSTANCE: Final = "app.kubernetes.io/instance"
_MANAGED_BY: Final = "app.kubernetes.io/managed-by"
_MOST_NAMED: Final = 2

Place = tuple[str, str, str]
"""apiVersion, kind and namespace."""


class OwnedByAnotherStackError(InputError):
    """Another stack has deployed what this one declares."""


def ensure_not_of_another_stack(
    stack: str, rendered: Iterable[RenderedObject], client: ApiClient
) -> None:
    """Refuse objects that bear the label of another stack.

    Kinds that may not be listed are passed over: an update that takes their objects is refused by
    the API server for the same reason.

    Args:
        stack: Name of the stack.
        rendered: Its objects.
        client: Its cluster.

    Raises:
        OwnedByAnotherStackError: there are such objects.
        UnreachableError: the cluster does not answer.
    """
    name = stack.rpartition("/")[2]
    declared = {item.identity for item in rendered}
    places = sorted({_place(item.manifest) for item in rendered})
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        found = [one for each in pool.map(lambda place: _others(client, place, name), places)
                 for one in each]  # fmt: skip
    owners: dict[Identity, str] = {
        reference_of(one).identity: str(mapping_at(one, "metadata", "labels")[_INSTANCE])
        for one in found
    }
    taken = sorted(each for each in owners if each in declared)
    if taken:
        raise _refusal(name, owners[taken[0]], taken)


def _others(client: ApiClient, place: Place, stack: str) -> list[KubeObject]:
    """Objects at a place that other stacks have deployed."""
    api_version, kind, namespace = place
    entry = known_entry(api_version, kind)
    if entry is None:
        return []
    selector = f"{_MANAGED_BY}=holdfast,{_INSTANCE},{_INSTANCE}!={stack}"
    try:
        listed = list_whole(client, api_version, entry.plural, namespace, selector)
    except ApiError as error:
        if error.is_forbidden or error.is_absent:
            return []
        raise
    return [{"apiVersion": api_version, "kind": kind, **one} for one in listed]


def _place(manifest: KubeObject) -> Place:
    namespace = str(manifest["metadata"].get("namespace") or "")
    return str(manifest["apiVersion"]), str(manifest["kind"]), namespace


def _refusal(stack: str, other: str, taken: list[Identity]) -> OwnedByAnotherStackError:
    named = ", ".join(_named(taken))
    more = f" and {len(taken) - _MOST_NAMED} more" if len(taken) > _MOST_NAMED else ""
    return OwnedByAnotherStackError(
        f"stack {other} has deployed these objects, and stack {stack} declares them, too: "
        f"{named}{more}",
        remedy=f"give stack {stack} another cluster or other namespaces, or remove the agents from "
        f"stack {other} first",
    )


def _named(taken: list[Identity]) -> Iterator[str]:
    for each in taken[:_MOST_NAMED]:
        yield (
            f"{each.kind} {each.namespace}/{each.name}"
            if each.namespace
            else (f"{each.kind} {each.name}")
        )
