"""Services that the operator leads to primary or standby: either of the two is no drift.

Only in Services whose declaration says so, and only that one label of the selector.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from holdfast.drift.compare.difference import Difference
from holdfast.kube.objects import ObjectRef, mapping_at, reference_of

_FAILOVER: Final = "holdfast.dev/failover"
_NAME: Final = "app.kubernetes.io/name"
_SUFFIX: Final = "-standby"


class Failovers:
    """The declared Services that may be moved."""

    def __init__(self, declared: Iterable[Mapping[str, Any]] = ()) -> None:
        self._movable = frozenset(
            (ref.namespace, ref.name)
            for one in declared
            if one.get("kind") == "Service"
            and _FAILOVER in mapping_at(one, "metadata", "annotations")
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
