"""Which of primary and standby an agent's Service leads to, where the operator may move it.

The declaration says which one serves at first; who serves now is said by the Service in the
cluster. So it stands beside what is rendered, like the hash of what pods mount: its revision stays.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.manifest.types.marks import FAILOVER
from holdfast.render.objects.services import STANDBY
from holdfast.render.plan.metadata import RenderedObject

FailoverTarget = Literal["primary", "standby"]

_NAME: Final = "app.kubernetes.io/name"


def is_movable(service: Mapping[str, Any]) -> bool:
    """Whether the operator may move a Service, as it was rendered."""
    annotations = mapping_at(service, "metadata", "annotations")
    return service.get("kind") == "Service" and FAILOVER in annotations


def serving_target(service: Mapping[str, Any]) -> FailoverTarget | None:
    """Where a Service leads; None where that is neither of the two."""
    name = mapping_at(service, "metadata").get("name")
    selected = mapping_at(service, "spec", "selector").get(_NAME)
    if selected == name:
        return "primary"
    return "standby" if selected == f"{name}-{STANDBY}" else None


def other_target(target: FailoverTarget) -> FailoverTarget:
    """The one that does not serve."""
    return "primary" if target == "standby" else "standby"


def leading_to(service: KubeObject, target: FailoverTarget | None) -> KubeObject:
    """A movable Service that leads to a target; everything else as it is. Its revision stays."""
    if target is None or not is_movable(service):
        return service
    spec = service["spec"]
    name = service["metadata"]["name"]
    selected = f"{name}-{STANDBY}" if target == STANDBY else name
    return service | {"spec": spec | {"selector": spec["selector"] | {_NAME: selected}}}


def keeping_side(declared: KubeObject, live: Mapping[str, Any] | None) -> KubeObject:
    """What is applied over a live object: a Service that was moved stays where it leads."""
    if live is None or not is_movable(declared):
        return declared
    return leading_to(declared, serving_target(live))


def with_serving(item: RenderedObject, target: FailoverTarget | None) -> RenderedObject:
    """The same of a rendered object."""
    return replace(item, manifest=leading_to(item.manifest, target))
