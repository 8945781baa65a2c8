"""Which workloads an autoscaler scales, and between what: its moves are no drift.

Source: autoscaling/v2 HorizontalPodAutoscaler, `scaleTargetRef`; an absent minimum is one.
keda.sh/v1alpha1 ScaledObject: target a Deployment by default, from none to a hundred replicas.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from holdfast.kube.objects import Identity, ObjectRef, api_group, mapping_at

REPLICAS: Final = ("spec", "replicas")
AUTOSCALER_MANAGERS: Final = frozenset(
    # Argo Rollouts fills in a first count, without which nothing could scale a Rollout.
    {"kube-controller-manager", "keda", "keda-operator", "rollouts-controller"}
)
KEDA_MAXIMUM: Final = 100


@dataclass(frozen=True)
class ReplicaRange:
    """Replica counts that an autoscaler may choose, both ends included."""

    minimum: int
    maximum: int

    def __contains__(self, replicas: object) -> bool:
        return isinstance(replicas, int) and self.minimum <= replicas <= self.maximum

    def nearest(self, replicas: int) -> int:
        """The count in the range that is nearest to another one."""
        return min(max(replicas, self.minimum), self.maximum)


class Autoscalers:
    """Every HorizontalPodAutoscaler and ScaledObject, by what it scales."""

    def __init__(
        self,
        declared: Iterable[Mapping[str, Any]],
        find_live: Callable[[], Iterable[Mapping[str, Any]]] = tuple,
    ) -> None:
        """Collect them.

        Args:
            declared: Objects of any kind; what was declared counts rather than what is live.
            find_live: Called once, when a workload moved that no declared one scales.
        """
        self._declared = dict(_ranges(declared))
        self._find_live = find_live

    @cached_property
    def _live(self) -> dict[Identity, ReplicaRange]:
        return dict(_ranges(self._find_live()))

    def beside(self, live: Iterable[Mapping[str, Any]]) -> "Autoscalers":
        """The same declared ones, and others that are live now."""
        other = Autoscalers((), lambda: live)
        other._declared = self._declared
        return other

    def range_of(self, ref: ObjectRef) -> ReplicaRange | None:
        """Range of a workload; None where no autoscaler scales it."""
        return self._declared.get(ref.identity) or self._live.get(ref.identity)


def scaled_by(autoscalers: Iterable[Mapping[str, Any]]) -> dict[Identity, ReplicaRange]:
    """What some autoscalers scale, and between what."""
    return dict(_ranges(autoscalers))


def _ranges(objects: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Identity, ReplicaRange]]:
    for autoscaler in objects:
        read = _READERS.get(str(autoscaler.get("kind")))
        spec = mapping_at(autoscaler, "spec")
        limits = read(spec) if read else None
        if limits is None:
            continue
        target = mapping_at(spec, "scaleTargetRef")
        namespace = str(mapping_at(autoscaler, "metadata").get("namespace") or "")
        group = api_group(str(target.get("apiVersion") or "apps/v1"))
        kind = str(target.get("kind") or "Deployment")
        yield Identity(group, kind, namespace, str(target.get("name"))), limits


def _range_of_autoscaler(spec: Mapping[str, Any]) -> ReplicaRange | None:
    minimum, maximum = spec.get("minReplicas", 1), spec.get("maxReplicas")
    if isinstance(minimum, int) and isinstance(maximum, int):
        return ReplicaRange(minimum, maximum)
    return None


def _range_of_scaled_object(spec: Mapping[str, Any]) -> ReplicaRange | None:
    """From none at all, where idleness is declared, or the minimum itself is none."""
    idle = spec.get("idleReplicaCount", spec.get("minReplicaCount", 0))
    maximum = spec.get("maxReplicaCount", KEDA_MAXIMUM)
    if isinstance(idle, int) and isinstance(maximum, int):
        return ReplicaRange(idle, maximum)
    return None


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], ReplicaRange | None]]] = {
    "HorizontalPodAutoscaler": _range_of_autoscaler,
    "ScaledObject": _range_of_scaled_object,
}
