"""What Argo Rollouts writes into objects of a declaration while it moves traffic: no drift.

It narrows the selector of a Service to the pods of one version, and divides a route's weights
between two Services. Only in objects that a declared Rollout names, and only those two things.

Source: Argo Rollouts documentation, "BlueGreen", "Traffic Management", Gateway API plugin.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from holdfast.drift.compare.difference import Difference
from holdfast.kube.objects import ObjectRef, mapping_at
from holdfast.kube.paths import format_path

POD_HASH: Final = "rollouts-pod-template-hash"
_VERSION: Final = re.compile(r"[a-z0-9]{4,16}")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
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
        self._moved = frozenset(_moved(declared))

    @staticmethod
    def is_restart(ref: ObjectRef, difference: Difference) -> bool:
        """Whether somebody has restarted a Rollout (`kubectl argo rollouts restart`).

        As with a Deployment's `restartedAt`, worth a word and no drift: what runs is as declared.
        """
        is_rollout = (ref.group, ref.kind) == ("argoproj.io", "Rollout")
        if not is_rollout or difference.path != ("spec", "restartAt"):
            return False
        return isinstance(difference.live, str) and _MOMENT.fullmatch(difference.live) is not None

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


def _moved(declared: Iterable[Mapping[str, Any]]) -> Iterator[WorkloadKey]:
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
