"""All watches of one cluster: a thread a place, started and ended together."""

import threading
from collections.abc import Callable, Iterable
from functools import partial

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.changes import Planned, WatchedKind, WatchScope
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.decoding import decode_page
from holdfast.adapters.cluster.kind_reader import PAGE_OBJECTS
from holdfast.adapters.cluster.reflector import Reflector, WatchConfig
from holdfast.errors import ClusterError

ENDING_SECONDS = 2.0
"""A thread that waits for an answer is not waited for longer: it dies with the process."""


class ClusterWatch:
    """Follows kinds until it is stopped."""

    def __init__(self, shared: WatchConfig) -> None:
        self._shared = shared
        self._watches: list[Reflector] = []
        self._threads: list[threading.Thread] = []
        self._growing = threading.Lock()

    def follow(self, kinds: Iterable[WatchedKind]) -> None:
        """Begin to watch; what is seen is told from other threads."""
        for kind in kinds:
            self._start(f"plan {kind.kind}", partial(self._follow_kind, kind))

    def list_again(self) -> None:
        """Begin every watch again with a LIST."""
        for watch in tuple(self._watches):
            watch.list_again()

    def stop(self) -> None:
        """End all streams."""
        self._shared.stopping.set()
        for watch in tuple(self._watches):
            watch.stop()
        for thread in tuple(self._threads):
            thread.join(ENDING_SECONDS)

    def _follow_kind(self, kind: WatchedKind) -> None:
        places = places_of(self._shared.client, kind)
        self._shared.tell(Planned(kind, places))
        for place in places:
            watch = Reflector(place, self._shared)
            with self._growing:
                self._watches.append(watch)
            self._start(f"watch {place}", watch.run)

    def _start(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        with self._growing:
            self._threads.append(thread)
        thread.start()


def places_of(client: ApiClient, kind: WatchedKind) -> tuple[WatchScope, ...]:
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
