"""The agent's pod: where it runs, as whom, and what runs beside the agent."""

from typing import Annotated

from pydantic import Field

from holdfast.manifest.agent.agent_types import CALLED, SERVING, OnlyFor
from holdfast.manifest.agent.container import LocalObjectReference
from holdfast.manifest.agent.exposure import Security
from holdfast.manifest.types.kubernetes_fields import (
    Affinity,
    ExtraContainer,
    PodSpecChange,
    Toleration,
    TopologySpreadConstraint,
)
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import LabelName, LabelValue, ObjectName, QualifiedKey
from holdfast.manifest.types.values import AbsolutePath, Duration, duration_milliseconds


class CacheWarmer(ManifestModel):
    """A sidecar that requests a path of the agent again and again, so that caches stay warm."""

    http: AbsolutePath
    """Path requested on the exposed port."""
    interval: Duration = "5m"
    """Time between requests; default 5m."""

    @property
    def interval_seconds(self) -> int:
        """The interval in seconds, rounded up."""
        return -(-duration_milliseconds(self.interval) // 1000)


class PodSettings(ManifestModel):
    """The agent's pods, in PodSpec's own words."""

    security: Security = Security.model_construct()
    """As whom it runs, and what it may do."""
    image_pull_secrets: Items[LocalObjectReference] = ()
    """Secrets for the registry, as {name}."""
    priority_class_name: ObjectName | None = None
    """PriorityClass of the pods."""
    runtime_class_name: ObjectName | None = None
    """RuntimeClass of the pods, such as gvisor."""
    node_selector: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels that a node must carry."""
    tolerations: Items[Toleration] = ()
    """Taints that the pods tolerate (PodSpec.tolerations)."""
    affinity: Affinity | None = None
    """Affinity rules (PodSpec.affinity)."""
    topology_spread_constraints: Items[TopologySpreadConstraint] | None = None
    """Spread rules; default over zones, best effort, when more than one replica runs."""
    queue_name: LabelName | None = None
    """Kueue LocalQueue in the agent's namespace that its pods wait in; default none."""
    sidecars: Annotated[Items[ExtraContainer], OnlyFor(CALLED)] = ()
    """Additional containers, as in PodSpec; the security defaults are merged in."""
    cache_warmer: Annotated[CacheWarmer | None, OnlyFor(SERVING)] = None
    """Sidecar that keeps the agent's caches warm; default none."""
    init_containers: Items[ExtraContainer] = ()
    """Containers that end before the agent starts, as in PodSpec; after Holdfast's own."""
    termination_grace_period_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Seconds between SIGTERM and SIGKILL; default max(60, longest tool timeout + preStop)."""
    overrides: PodSpecChange | None = None
    """Laid over the rendered PodSpec last: maps by key, lists by their merge key; {$patch: delete}
    in place of a value removes it."""
