"""The cluster that a comparison reads: kinds, objects, types, and what stands beside them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kind_reader import ListOptions
from holdfast.adapters.cluster.kinds import custom_types, served_kinds
from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.adapters.cluster.listing import read_bystanders, read_listed
from holdfast.adapters.cluster.sought_kinds import kinds_beside
from holdfast.adapters.cluster.writing import read_object
from holdfast.drift.finding import NotChecked
from holdfast.drift.scan import LiveState
from holdfast.drift.unmanaged import declared_namespaces, stack_selector
from holdfast.errors import ClusterError
from holdfast.kube.objects import Identity, KindKey, KubeObject, ObjectRef, placed, reference_of
from holdfast.kube.structure import KindEntry, TypeTable
from holdfast.manifest.types.marks import AGENT_LABEL
from holdfast.operations.progress import SILENT, Progress

if TYPE_CHECKING:
    from holdfast.operations.stack.context import StackContext

REQUEST_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class ClusterSource:
    """One cluster, and what was learnt about its kinds.

    Attributes:
        progress: Takes notes on what may not be read.
    """

    client: ApiClient
    kinds: dict[tuple[str, str], KindEntry] = field(default_factory=dict)
    progress: Progress = SILENT

    @classmethod
    def connect(
        cls,
        kubeconfig: Path | None,
        context: str | None,
        request_timeout_seconds: float,
        progress: Progress = SILENT,
    ) -> "ClusterSource":
        """Find the cluster; nothing is sent yet."""

        def connection() -> Connection:
            return connection_of(kubeconfig, context)

        client = ApiClient(connection(), request_timeout_seconds, connection)
        return cls(client, progress=progress)

    @classmethod
    def of_stack(cls, stack: "StackContext") -> "ClusterSource":
        """The cluster of a stack; nothing is sent yet."""
        return cls.connect(stack.kubeconfig, stack.kube_context, REQUEST_TIMEOUT_SECONDS)

    def entry_of(self, ref: ObjectRef) -> KindEntry:
        """How the cluster calls the kind of an object.

        Raises:
            ClusterError: the cluster does not serve it, or cannot be asked.
        """
        key = (ref.api_version, ref.kind)
        if key not in self.kinds:
            self.kinds.update(served_kinds(self.client, [key]))
        entry = self.kinds.get(key)
        if entry is None:
            raise ClusterError(
                f"the cluster does not serve {ref.kind} ({ref.api_version}), the kind of {ref}",
                remedy="install its CustomResourceDefinition, then run `holdfast up`",
            )
        return entry

    def live(self, ref: ObjectRef) -> KubeObject | None:
        """An object as it is now; None when there is none.

        Raises:
            ClusterError: it cannot be read, or the cluster does not serve its kind.
        """
        live = read_object(self.client, ref, self.entry_of(ref))
        return live and {"apiVersion": ref.api_version, "kind": ref.kind, **live}

    def placed(self, objects: Iterable[KubeObject]) -> list[KubeObject]:
        """Objects with their namespace, now that the server has said which kinds have one."""
        wanted = {(one["apiVersion"], one["kind"]) for one in objects}
        self.kinds.update(served_kinds(self.client, sorted(wanted - set(self.kinds))))

        def is_namespaced(api_version: str, kind: str) -> bool | None:
            entry = self.kinds.get((api_version, kind))
            return None if entry is None else entry.is_namespaced

        return placed(objects, is_namespaced, self.client.connection.namespace)

    def types(self) -> list[TypeTable]:
        """The types of the custom resources among the kinds."""
        custom = {version for (version, _), entry in self.kinds.items() if not entry.type_name}
        return custom_types(self.client, custom)

    def read(
        self,
        objects: list[KubeObject],
        stack: str,
        is_settled: Callable[[Identity, KubeObject], bool],
        agent: str = "",
    ) -> LiveState:
        """The live objects of all declared kinds.

        Args:
            objects: What is declared, with namespaces.
            stack: Name of the stack; empty for files.
            is_settled: Whether a live object is in sync, and need not be kept.
            agent: The only agent whose objects are read; empty for all of them.
        """
        selector = f"{AGENT_LABEL}={agent}" if agent else ""
        question = ListOptions(selector=selector, is_settled=is_settled)
        declared = [reference_of(one) for one in objects]
        places, beside_selector = places_beside(objects, stack)
        refs = [*declared, *anywhere_else(declared, self.kinds, places)]
        with ThreadPoolExecutor(1) as threads:
            bystanders = threads.submit(self._bystanders, places, selector or beside_selector)
            listing = read_listed(self.client, refs, self.kinds, question)
            beside, watched = bystanders.result()
        unread = {
            identity: NotChecked(item.scope, item.reason)
            for identity, item in listing.unread.items()
        }
        found = {**beside, **listing.objects}
        somewhere = {unread[identity] for identity in unread if not identity.name}
        return LiveState(found, unread, tuple(sorted(somewhere)), watched, listing.settled)

    def _bystanders(
        self, places: Collection[str], selector: str
    ) -> tuple[dict[Identity, KubeObject], frozenset[tuple[str, str]]]:
        """What has some power over the declaration's namespaces although it is not declared."""
        if not places:
            return {}, frozenset()
        sought = kinds_beside(self.client, self.kinds.keys())
        beside = read_bystanders(self.client, sought, places, selector)
        for scope in beside.unread:
            self.progress.note(f"note: {scope}: no rights to look for undeclared ones")
        found = {reference_of(one).identity: one for one in beside.objects}
        return found, beside.kinds


def anywhere_else(
    declared: Iterable[ObjectRef], kinds: Mapping[KindKey, KindEntry], places: Collection[str]
) -> Iterator[ObjectRef]:
    """References without a name: each declared kind in the other namespaces of the declaration.

    What is declared in one namespace and created by hand in the next is not declared there.

    Args:
        declared: References with their namespaces.
        kinds: What is served.
        places: Namespaces in which undeclared objects are looked for.
    """
    namespaces: dict[KindKey, set[str]] = {}
    for ref in declared:
        namespaces.setdefault((ref.api_version, ref.kind), set()).add(ref.namespace)
    for key, known in namespaces.items():
        entry = kinds.get(key)
        if entry is not None and entry.is_namespaced:
            for place in sorted(set(places) - known):
                yield ObjectRef(place, key[1], "", key[0])


def places_beside(objects: list[KubeObject], stack: str) -> tuple[set[str], str]:
    """Namespaces in which to look for what nobody declared, and the label selector to look with."""
    owned = declared_namespaces(objects)
    if owned or not stack:
        return owned, ""
    return {reference_of(one).namespace for one in objects} - {""}, stack_selector(stack)
