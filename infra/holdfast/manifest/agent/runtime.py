"""What runs and where: ports, environment, resources, placement."""

import difflib
import re
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from holdfast.kube.scalars import parse_quantity
from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.choices import Choosing, OneOf
from holdfast.manifest.types.kubernetes_fields import Affinity, Toleration, TopologySpreadConstraint
from holdfast.manifest.types.values import (
    EnvName,
    FileName,
    Items,
    LabelName,
    LabelValue,
    ManifestModel,
    ObjectName,
    Port,
    PortName,
    QualifiedKey,
    Quantity,
    ResourceName,
    Text,
)

DEFAULT_REQUESTS: Final = {"cpu": "100m", "memory": "256Mi", "ephemeral-storage": "64Mi"}
DEFAULT_LIMITS: Final = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}


class ContainerPort(ManifestModel):
    """A port that the agent listens on."""

    name: PortName
    """Name of the port, unique in the agent."""
    container_port: Port
    """Port number, 1–65535."""
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    """Transport protocol; default TCP."""


class KeyReference(ManifestModel):
    """A key of a Secret or ConfigMap in the agent's namespace."""

    name: ObjectName
    """Name of the object."""
    key: FileName
    """Key in its data."""


class OptionalKeyReference(KeyReference):
    """A key of a Secret or ConfigMap that may be missing."""

    optional: bool = False
    """Start without the variable where the key is missing; default false."""


_POD_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_KNOWN_POD_FIELDS: Final = f"{', '.join(_POD_FIELDS)}, metadata.labels['KEY']"
_POD_FIELD: Final = r"metadata\.(labels|annotations)\['[^']+'\]|" + "|".join(
    re.escape(each) for each in _POD_FIELDS
)


class FieldReference(ManifestModel):
    """A field of the pod itself."""

    field_path: Text
    """Such as `metadata.name` or `status.podIP`."""

    @model_validator(mode="after")
    def _is_served_to_variables(self) -> Self:
        if not re.fullmatch(_POD_FIELD, self.field_path):
            close = difflib.get_close_matches(self.field_path, _POD_FIELDS, n=1)
            raise fault(
                "expected a field that the kubelet serves as a variable",
                found=repr(self.field_path),
                remedy=f'did you mean "{close[0]}"?' if close else f"known: {_KNOWN_POD_FIELDS}",
                at=("fieldPath",),
            )
        return self


class EnvSource(Choosing):
    """Where a variable's value comes from; exactly one."""

    CHOICES = (OneOf(("secret_key_ref", "config_map_key_ref", "field_ref")),)

    secret_key_ref: OptionalKeyReference | None = None
    """A key of a Secret."""
    config_map_key_ref: OptionalKeyReference | None = None
    """A key of a ConfigMap."""
    field_ref: FieldReference | None = None
    """A field of the pod."""


class EnvVar(Choosing):
    """An environment variable: a literal value, or a source."""

    CHOICES = (OneOf(("value", "value_from")),)

    name: EnvName
    """Name of the variable."""
    value: str | None = None
    """Literal value; never a credential."""
    value_from: EnvSource | None = None
    """Where the value comes from."""


class LocalObjectReference(ManifestModel):
    """An object in the agent's namespace, by name."""

    name: ObjectName
    """Name of the object."""


class EnvSourceReference(LocalObjectReference):
    """A ConfigMap or Secret whose keys become variables."""

    optional: bool = False
    """Start without the variables where the object is missing; default false."""


class EnvFromSource(Choosing):
    """All keys of a ConfigMap or Secret as variables."""

    CHOICES = (OneOf(("config_map_ref", "secret_ref")),)

    prefix: EnvName | None = None
    """What the variables' names begin with; default nothing."""
    config_map_ref: EnvSourceReference | None = None
    """A ConfigMap."""
    secret_ref: EnvSourceReference | None = None
    """A Secret."""


class Resources(ManifestModel):
    """Requests and limits of the agent's container, by resource name."""

    requests: dict[ResourceName, Quantity] = Field(default_factory=dict)
    """What the scheduler reserves; defaults cpu 100m, memory 256Mi, ephemeral-storage 64Mi, or the
    limit where that is less."""
    limits: dict[ResourceName, Quantity] = Field(default_factory=dict)
    """What the agent may use at most; defaults cpu 1, memory 1Gi, ephemeral-storage 1Gi, or the
    request where that is more."""

    @model_validator(mode="after")
    def _limits_cover_requests(self) -> Self:
        requests, limits = self.effective()
        for name, request in requests.items():
            limit = limits.get(name)
            extended = "/" in name
            if limit is None and not extended:
                continue
            if limit is None or (extended and parse_quantity(limit) != parse_quantity(request)):
                raise fault(
                    f"request and limit of {name} must be equal (extended resource)",
                    found=f"request {request!r}, limit {limit!r}",
                    at=("limits", name),
                )
            if parse_quantity(limit) < parse_quantity(request):
                raise fault(
                    f"limits.{name} must not be below requests.{name}",
                    found=f"limit {limit!r}, request {request!r}",
                    at=("limits", name),
                )
        return self

    def effective(self) -> tuple[dict[str, str], dict[str, str]]:
        """Requests and limits with the defaults filled in; a default never contradicts the other.

        A request above the default limit is its own limit; a limit below the default request is
        its own request.
        """
        requests, limits = DEFAULT_REQUESTS | self.requests, DEFAULT_LIMITS | self.limits
        for name in DEFAULT_REQUESTS:
            if parse_quantity(limits[name]) >= parse_quantity(requests[name]):
                continue
            if name not in self.limits:
                limits[name] = requests[name]
            elif name not in self.requests:
                requests[name] = limits[name]
        extended = {name: value for name, value in self.limits.items() if "/" in name}
        return extended | requests, limits


class TemporaryFolder(ManifestModel):
    """The folder /tmp of the container, empty at every start."""

    size: Quantity = "64Mi"
    """Most that it may hold; above it the pod is evicted. Default 64Mi."""


class Placement(ManifestModel):
    """Where pods may run, in PodSpec's own words."""

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
