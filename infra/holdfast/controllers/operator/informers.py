"""Which kinds the operator watches: its own, those of the agents' objects, and nodes."""

from collections.abc import Iterable, Set
from typing import Final

from holdfast.adapters.cluster.changes import WatchedKind
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.adapters.cluster.kind_reader import ListOptions
from holdfast.adapters.cluster.kinds import custom_types, served_kinds
from holdfast.adapters.cluster.reflector import WatchConfig
from holdfast.controllers.runtime.node_health import watched_nodes
from holdfast.drift.unmanaged import stack_selector
from holdfast.errors import ClusterError
from holdfast.kube.objects import KindKey, ObjectRef
from holdfast.kube.structure import KindEntry, TypeTable
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.resource_interface import STACK_DECLARATION_KIND
from holdfast.manifest.types.manifest import API_VERSION

ALWAYS: Final = (
    *((API_VERSION, kind) for kind in KINDS),
    (API_VERSION, STACK_DECLARATION_KIND),
    ("v1", "ConfigMap"),
    ("v1", "Pod"),
    ("batch/v1", "Job"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
)


class InformerSet:
    """Follows kinds of one stack, more of them as agents need them.

    Attributes:
        kinds: How kinds are called in this cluster.
    """

    def __init__(self, client: ApiClient, stack: str) -> None:
        self.kinds: dict[KindKey, KindEntry] = {}
        self._client = client
        self._selector = stack_selector(stack)
        self._followed: set[KindKey] = set()
        self._types: dict[str, list[TypeTable]] = {}

    @property
    def types(self) -> list[TypeTable]:
        """Types of the custom resources that are watched."""
        return [table for tables in self._types.values() for table in tables]

    def begin(self, shared: WatchConfig) -> None:
        """Begin with the kinds that are always watched.

        Raises:
            ClusterError: the cluster does not serve Holdfast's kinds, or does not answer; it can
                be asked again.
        """
        self._learn(set(ALWAYS))
        if (API_VERSION, AGENT_KIND) not in self.kinds:
            raise ClusterError(
                f"the cluster does not serve {API_VERSION} {AGENT_KIND}",
                remedy="run 'holdfast operator install'",
            )
        self._watch = ClusterWatch(shared)
        self._watch.follow([watched_nodes()])
        self._follow_known(set(ALWAYS))

    def follow(self, kinds: Iterable[KindKey]) -> None:
        """Begin to watch kinds that are not watched yet.

        Raises:
            ClusterError: their discovery failed; none is watched then.
        """
        new = set(kinds) - self._followed
        if new:
            self._learn(new)
            self._follow_known(new)

    def _learn(self, new: Set[KindKey]) -> None:
        self.kinds.update(served_kinds(self._client, sorted(new)))
        for version in {version for version, _ in new if version not in self._types}:
            custom = [entry for (v, _), entry in self.kinds.items() if v == version]
            is_builtin = all(entry.type_name for entry in custom)
            self._types[version] = [] if is_builtin else custom_types(self._client, [version])

    def _follow_known(self, new: Set[KindKey]) -> None:
        self._followed |= new
        self._watch.follow(
            WatchedKind(
                self.kinds.get(key),
                (ObjectRef("", key[1], "", key[0]),),
                ListOptions(selector=self._selector, keeps_status=True),
            )
            for key in sorted(new)
        )

    def learn_late(self, kind: WatchedKind) -> bool:
        """Take the name of a kind whose definition came later; returns whether it is news."""
        key = (kind.api_version, kind.kind)
        if kind.entry is None or key in self.kinds or key not in self._followed:
            return False
        self._types.pop(kind.api_version, None)
        self._learn({key})
        return True

    def list_again(self) -> None:
        """Read everything again: what is known is in doubt."""
        self._watch.list_again()

    def stop(self) -> None:
        """End all streams."""
        self._watch.stop()
