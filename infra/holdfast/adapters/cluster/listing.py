"""Read what is declared, and what stands beside it, with as few requests as there are kinds."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from holdfast.adapters.cluster.api_error import UnreachableError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kind_reader import KindReader, Listing, ListOptions
from holdfast.adapters.cluster.sought_kinds import ServedKind
from holdfast.kube.objects import KindKey, KubeObject, ObjectRef, api_group
from holdfast.kube.structure import KindEntry

CONCURRENT_KINDS: Final = 4


@dataclass(frozen=True)
class Bystanders:
    """What stands beside the declared objects.

    Attributes:
        objects: apiVersion, kind and metadata.
        kinds: Group and kind of all that could be read.
        unread: Kinds that could not be.
    """

    objects: tuple[KubeObject, ...] = ()
    kinds: frozenset[tuple[str, str]] = frozenset()
    unread: tuple[str, ...] = ()


def read_listed(
    client: ApiClient,
    wanted: Iterable[ObjectRef],
    kinds: Mapping[KindKey, KindEntry],
    question: ListOptions | None = None,
) -> Listing:
    """Read all objects of the wanted kinds, in the namespaces where they are wanted.

    Args:
        client: The API server.
        wanted: References with their namespace filled in.
        kinds: What is served; a wanted kind that is absent becomes unread.
        question: How to ask.

    Raises:
        LoginError: the credentials are not accepted.
        UnreachableError: nothing could be read at all.
    """
    by_kind: dict[KindKey, list[ObjectRef]] = {}
    for ref in wanted:
        by_kind.setdefault((ref.api_version, ref.kind), []).append(ref)
    readers = [KindReader(client, kinds.get(key), refs, question) for key, refs in by_kind.items()]
    with ThreadPoolExecutor(CONCURRENT_KINDS) as threads:
        failures = [error for error in threads.map(KindReader.read, readers) if error]
    if failures and len(failures) == len(readers):
        unreachable = [error for error in failures if isinstance(error, UnreachableError)]
        if len(unreachable) == len(failures):
            raise unreachable[0]
    total = Listing()
    declared_in = {ref.identity: ref.api_version for refs in by_kind.values() for ref in refs}
    for reader in readers:
        for identity, one in reader.listing.objects.items():
            # One kind may be read in two versions: each object counts as it was declared.
            if declared_in.get(identity, reader.api_version) == reader.api_version:
                total.objects[identity] = one
        total.unread.update(reader.listing.unread)
        total.settled |= reader.listing.settled
        total.requests += reader.listing.requests
    return total


def read_kind(
    client: ApiClient, ref: ObjectRef, entry: KindEntry, namespaces: Collection[str]
) -> list[KubeObject]:
    """All objects of one kind in some namespaces; empty where they cannot be read.

    Args:
        client: The API server.
        ref: Any reference of the kind; only kind and apiVersion count.
        entry: What the kind is called.
        namespaces: Where to look.
    """
    refs = [replace(ref, namespace=namespace) for namespace in namespaces]
    reader = KindReader(client, entry, refs)
    reader.list_everywhere()
    return [
        one
        for (_, _, namespace, _), one in reader.listing.objects.items()
        if namespace in namespaces
    ]


def read_bystanders(
    client: ApiClient,
    sought: Sequence[ServedKind],
    namespaces: Collection[str],
    selector: str = "",
) -> Bystanders:
    """List kinds of which nothing is declared: metadata only, where that is enough to judge.

    A rogue pod is of no declared kind, so no LIST of declared kinds shows it. What may not be read
    here takes nothing from what was declared and could be checked: it is returned as a note.

    Args:
        client: The API server.
        sought: What to look for.
        namespaces: Where to look.
        selector: Label selector; empty for all objects.

    Raises:
        LoginError: the credentials are not accepted.
    """
    readers = [
        KindReader(client, each.entry, each.anywhere_in(namespaces), each.question(selector))
        for each in sought
        if namespaces
    ]
    with ThreadPoolExecutor(CONCURRENT_KINDS) as threads:
        failures = list(threads.map(KindReader.list_everywhere, readers))
    seen = [reader for reader, failure in zip(readers, failures, strict=True) if failure is None]
    return Bystanders(
        tuple(
            one
            for reader in seen
            for (_, _, namespace, _), one in reader.listing.objects.items()
            if namespace in namespaces or not namespace
        ),
        frozenset((api_group(reader.api_version), reader.kind) for reader in seen),
        tuple(reader.kind for reader, failure in zip(readers, failures, strict=True) if failure),
    )
