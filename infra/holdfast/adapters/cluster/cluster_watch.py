"""All watches of one cluster: the kinds that they follow, and a thread a scope.

The kinds are those that are declared, and those that may stand beside them.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count

from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.api_error import ApiError, asked_seconds, fault_text
from holdfast.adapters.cluster.bodies import decode_page
from holdfast.adapters.cluster.changes import Planned, WatchedKind, WatchLost, WatchScope
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.kind_reader import PAGE_OBJECTS, ListOptions
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.cluster.reflector import Reflector, WatchConfig
from holdfast.adapters.cluster.sought_kinds import ServedKind
from holdfast.errors import ClusterError
from holdfast.kube.objects import KindKey, ObjectRef
from holdfast.kube.structure import KindEntry


def declared_kinds(
    refs: Iterable[ObjectRef], kinds: Mapping[KindKey, KindEntry]
) -> tuple[WatchedKind, ...]:
    """The kinds of what is declared.

    Args:
        refs: Everything declared, with namespaces filled in.
        kinds: What is served.
    """
    by_kind: dict[KindKey, list[ObjectRef]] = {}
    for ref in refs:
        by_kind.setdefault((ref.api_version, ref.kind), []).append(ref)
    return tuple(
        WatchedKind(kinds.get(key), tuple(sorted(wanted)), _question(kinds.get(key), wanted))
        for key, wanted in by_kind.items()
    )


def _question(entry: KindEntry | None, refs: list[ObjectRef]) -> ListOptions:
    is_one_in_cluster = entry is not None and not entry.is_namespaced and len(refs) == 1
    return ListOptions(name=refs[0].name if is_one_in_cluster else "")


def watched_beside(
    sought: Iterable[ServedKind], namespaces: Collection[str], selector: str
) -> tuple[WatchedKind, ...]:
    """Kinds of which nothing is declared, and which have some power over the agents.

    Args:
        sought: What to look for.
        namespaces: Where to look.
        selector: Label selector; empty for all objects.
    """
    return tuple(
        WatchedKind(
            each.entry,
            tuple(each.anywhere_in(namespaces)),
            each.question(selector),
            is_declared=False,
        )
        for each in sought
        if namespaces
    )


def _anything(key: KindKey, namespaces: Collection[str]) -> tuple[ObjectRef, ...]:
    one = ObjectRef("", key[1], "", key[0])
    return tuple(replace(one, namespace=namespace) for namespace in sorted(namespaces))


ENDING_SECONDS = 2.0
"""A thread that waits for an answer is not waited for longer: it dies with the process."""


class ClusterWatch:
    """Follows kinds until it is stopped."""

    def __init__(self, shared: WatchConfig) -> None:
        self._shared = shared
        self._reflectors: list[Reflector] = []
        self._threads: list[threading.Thread] = []
        self._growing = threading.Lock()
        self._next = 0

    def __len__(self) -> int:
        """How many scopes are watched."""
        return len(self._reflectors)

    def follow(self, kinds: Iterable[WatchedKind]) -> None:
        """Begin to watch; what is seen is reported from other threads."""
        for kind in kinds:
            self._start(f"plan {kind.kind}", partial(self._follow_kind, kind))

    def list_next(self) -> None:
        """Begin one scope again with a LIST, at each call the next one: a slow check of all."""
        reflectors = tuple(self._reflectors)
        if reflectors:
            self._next = (self._next + 1) % len(reflectors)
            reflectors[self._next].list_again()

    def list_again(self) -> None:
        """Begin every scope again with a LIST: what they hold is in doubt."""
        for each in tuple(self._reflectors):
            each.list_again()

    def stop(self) -> None:
        """End all streams."""
        self._shared.stopping.set()
        for each in tuple(self._reflectors):
            each.stop()
        for thread in tuple(self._threads):
            thread.join(ENDING_SECONDS)

    def _follow_kind(self, kind: WatchedKind) -> None:
        """Plan one kind, however often that takes, and start a reflector for each of its scopes."""
        for failures in count(1):
            try:
                served = _served(self._shared.client, kind)
                scopes = scopes_of(self._shared.client, served)
                break
            except Exception as error:
                # Whatever it is, the kind is not seen, and is planned again.
                whole = WatchScope(kind, kind.kind)
                self._shared.emit(Planned(kind, (whole,)))
                self._shared.emit(WatchLost(whole, fault_text(error)))
                asked = asked_seconds(error) if isinstance(error, ClusterError) else 0.0
                if self._shared.stopping.wait(max(asked, backoff.STREAMS.seconds(failures))):
                    return
        self._shared.emit(Planned(served, scopes))
        for scope in scopes:
            reflector = Reflector(scope, self._shared)
            with self._growing:
                self._reflectors.append(reflector)
            self._start(f"watch {scope}", reflector.run)

    def _start(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        with self._growing:
            self._threads.append(thread)
        thread.start()


def _served(client: ApiClient, kind: WatchedKind) -> WatchedKind:
    """The kind with the name under which it is served: its definition may have come later.

    Raises:
        ClusterError: it is not served, or the server does not say.
    """
    if kind.entry is not None:
        return kind
    key = (kind.api_version, kind.kind)
    entry = served_kinds(client, [key]).get(key)
    if entry is None:
        raise ClusterError(f"the server does not serve {kind.api_version}")
    return replace(kind, entry=entry)


def scopes_of(client: ApiClient, kind: WatchedKind) -> tuple[WatchScope, ...]:
    """Where to watch a kind: one stream for the whole cluster where that may be read and is small.

    A kind that is wanted in several namespaces is watched in each of them where the whole cluster
    is forbidden, or where its LIST would take more requests than there are namespaces.
    """
    namespaces = sorted(kind.namespaces)
    if len(namespaces) == 1 or kind.entry is None:
        return (WatchScope(kind, kind.kind, namespaces[0] if len(namespaces) == 1 else ""),)
    divided = tuple(WatchScope(kind, kind.kind, namespace) for namespace in namespaces)
    try:
        path = path_of(kind.api_version, kind.entry.plural)
        query: dict[str, str | int] = {"limit": 1, **kind.question.selection}
        page = decode_page(client.get(path, query, kind.question.accept))
    except ApiError as error:
        return divided if error.is_forbidden else (WatchScope(kind, kind.kind),)
    except ClusterError:
        return (WatchScope(kind, kind.kind),)
    is_crowded = (page.metadata.remaining_item_count or 0) > PAGE_OBJECTS * len(namespaces)
    return divided if is_crowded else (WatchScope(kind, kind.kind),)
