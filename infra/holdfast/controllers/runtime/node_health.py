"""How nodes are, and what turns about them: ready, under pressure, cordoned, gone. Pure.

Of each node a few words are kept, for its images and labels are of no interest here.
Source: Kubernetes documentation, "Node status: conditions".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.adapters.cluster.changes import Change, Moved, Snapshot, WatchedKind
from holdfast.adapters.cluster.kind_reader import ListOptions
from holdfast.kube.objects import ObjectRef, mapping_at
from holdfast.kube.structure import KindEntry, builtin_kind

NODE: Final = ("v1", "Node")
CORDONED: Final = "cordoned"
NOT_READY: Final = "NotReady"
_OVER: Final = {NOT_READY: "Ready", CORDONED: "uncordoned"}

Turn = tuple[str, str]
"""Name of a node, and what is so now: `NotReady`, `Ready`, `cordoned`, `DiskPressure`, `gone`."""


def watched_nodes(entry: KindEntry | None = None) -> WatchedKind:
    """All nodes: they carry no label of a stack."""
    entry = entry or builtin_kind(*NODE)
    return WatchedKind(entry, (ObjectRef("", "Node", "", "v1"),), ListOptions(keeps_status=True))


def faults_of(node: Mapping[str, Any]) -> frozenset[str]:
    """What is wrong with a node; empty when pods may run and start there."""
    found = {CORDONED} if mapping_at(node, "spec").get("unschedulable") else set()
    is_ready = False
    for each in mapping_at(node, "status").get("conditions") or ():
        kind, status = str(each.get("type")), each.get("status")
        if kind == "Ready":
            is_ready = status == "True"
        elif status == "True":
            found.add(kind)
    return frozenset(found if is_ready else found | {NOT_READY})


@dataclass
class NodeHealth:
    """Nodes by what is wrong with them.

    Law: a node that is seen for the first time turns nothing; each turn is reported once.
    """

    _faults: dict[str, frozenset[str]] = field(default_factory=dict)

    def take(self, change: Change) -> Iterator[Turn]:
        """Take what was heard of nodes; yields what has turned."""
        if isinstance(change, Moved):
            yield from self._moved(change.identity.name, change.live)
        elif isinstance(change, Snapshot):
            listing = change.listing
            there = {each[3] for each in (*listing.objects, *listing.unchanged, *listing.unread)}
            for name in self._faults.keys() - there:
                yield from self._moved(name, None)
            for identity, live in listing.objects.items():
                yield from self._moved(identity.name, live)

    def _moved(self, name: str, live: Mapping[str, Any] | None) -> Iterator[Turn]:
        before = self._faults.pop(name, None)
        if live is None:
            if before is not None:
                yield name, "gone"
            return
        now = self._faults[name] = faults_of(live)
        if before is None:
            return
        for fault in sorted(now - before):
            yield name, fault
        for fault in sorted(before - now):
            yield name, _OVER.get(fault, f"{fault} is over")


def trigger_of(turn: Turn) -> str:
    """The turn of a node as a trigger."""
    return f"node/{turn[0]} {turn[1]}"
