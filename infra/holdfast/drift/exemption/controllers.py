"""What other controllers change by right, and is therefore no drift. Pure.

Declared autoscalers choose replicas within their range; the operator moves a Service between
primary and standby where its declaration says so; Argo Rollouts narrows selectors and divides
weights in the objects that a declared Rollout names.

Source: autoscaling/v2 HorizontalPodAutoscaler (an absent minimum is one); keda.sh/v1alpha1
ScaledObject (a Deployment by default, 0 to 100 replicas); Argo Rollouts documentation, "BlueGreen",
"Traffic Management", Gateway API plugin.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.drift.compare.difference import Difference
from holdfast.kube.objects import Identity, ObjectRef, api_group, mapping_at, reference_of
from holdfast.kube.paths import format_path
from holdfast.manifest.types.marks import FAILOVER

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
    """Every declared HorizontalPodAutoscaler and ScaledObject, by what it scales.

    One that only exists in the cluster excuses nothing: any client can create it.
    """

    def __init__(self, declared: Iterable[Mapping[str, Any]]) -> None:
        """Collect them among declared objects of any kind."""
        self._ranges = dict(_ranges(declared))

    def range_of(self, ref: ObjectRef) -> ReplicaRange | None:
        """Range of a workload; None where no declared autoscaler scales it."""
        return self._ranges.get(ref.identity)


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


_NAME: Final = "app.kubernetes.io/name"
_SUFFIX: Final = "-standby"


class Failovers:
    """The declared Services that may be moved."""

    def __init__(self, declared: Iterable[Mapping[str, Any]] = ()) -> None:
        self._movable = frozenset(
            (ref.namespace, ref.name)
            for one in declared
            if one.get("kind") == "Service"
            and FAILOVER in mapping_at(one, "metadata", "annotations")
            for ref in (reference_of(one),)
        )

    def moves(self, ref: ObjectRef, difference: Difference) -> bool:
        """Whether a difference is a fail-over."""
        if ref.kind != "Service" or (ref.namespace, ref.name) not in self._movable:
            return False
        if difference.path == ("spec", "selector", _NAME):
            return difference.live in (ref.name, f"{ref.name}{_SUFFIX}")
        desired, live = difference.desired, difference.live
        if difference.path != ("spec", "selector"):
            return False
        if not isinstance(desired, dict) or not isinstance(live, dict):
            return False
        is_side = live.get(_NAME) in (ref.name, f"{ref.name}{_SUFFIX}")
        return is_side and live == desired | {_NAME: live[_NAME]}


POD_HASH: Final = "rollouts-pod-template-hash"
_VERSION: Final = re.compile(r"[a-z0-9]{4,16}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_WEIGHT: Final = re.compile(r"spec\.rules\[\d+\]\.backendRefs\[\d+\]\.weight")
_SERVICE_FIELDS: Final = {
    "blueGreen": ("activeService", "previewService"),
    "canary": ("stableService", "canaryService"),
}
_ROUTE_PLUGIN: Final = "argoproj-labs/gatewayAPI"
MOST_WEIGHT: Final = 100
WorkloadKey = tuple[str, str, str]


class Rollouts:
    """The objects that declared Rollouts move traffic with, by kind, namespace and name."""

    def __init__(self, declared: Iterable[Mapping[str, Any]] = ()) -> None:
        self._moved = frozenset(_moved_by_rollouts(declared))

    @staticmethod
    def is_restart(ref: ObjectRef, difference: Difference) -> bool:
        """Whether a Rollout was restarted (`kubectl argo rollouts restart`).

        As with a Deployment's `restartedAt`, worth a word and no drift: what runs is as declared.
        """
        is_rollout = (ref.group, ref.kind) == ("argoproj.io", "Rollout")
        if not is_rollout or difference.path != ("spec", "restartAt"):
            return False
        return isinstance(difference.live, str) and _TIME.fullmatch(difference.live) is not None

    def writes(self, ref: ObjectRef, difference: Difference) -> bool:
        """Whether a difference is the doing of Argo Rollouts."""
        if (ref.kind, ref.namespace, ref.name) not in self._moved:
            return False
        live = difference.live
        if ref.kind == "Service":
            if difference.path == ("spec", "selector", POD_HASH):
                return isinstance(live, str) and _VERSION.fullmatch(live) is not None
            return difference.path == ("spec", "selector") and _adds_version(
                difference.desired, live
            )
        is_weight = _WEIGHT.fullmatch(format_path(difference.path)) is not None
        return is_weight and isinstance(live, int) and 0 <= live <= MOST_WEIGHT


def _adds_version(desired: object, live: object) -> bool:
    if not isinstance(desired, dict) or not isinstance(live, dict):
        return False
    version = str(live.get(POD_HASH))
    return live == desired | {POD_HASH: version} and _VERSION.fullmatch(version) is not None


def _moved_by_rollouts(declared: Iterable[Mapping[str, Any]]) -> Iterator[WorkloadKey]:
    for one in declared:
        if one.get("kind") != "Rollout":
            continue
        namespace = str(mapping_at(one, "metadata").get("namespace") or "")
        strategy = mapping_at(one, "spec", "strategy")
        for name, fields in _SERVICE_FIELDS.items():
            part = mapping_at(strategy, name)
            for field in fields:
                if service := part.get(field):
                    yield "Service", namespace, str(service)
            plugins = mapping_at(part, "trafficRouting", "plugins")
            if route := mapping_at(plugins, _ROUTE_PLUGIN).get("httpRoute"):
                yield "HTTPRoute", namespace, str(route)
