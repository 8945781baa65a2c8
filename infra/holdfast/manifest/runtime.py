"""What runs: ports, environment, resources, probes, life cycle."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.kube.quantities import parse_quantity
from holdfast.manifest.faults import fault
from holdfast.manifest.values import (
    AbsolutePath,
    EnvName,
    FileName,
    Items,
    JsonObject,
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


class ContainerPort(ManifestModel):
    """A port that the agent listens on."""

    name: PortName
    """Name of the port, unique in the agent."""
    port: Port
    """Port number, 1–65535."""
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    """Transport protocol; default TCP."""


class KeyReference(ManifestModel):
    """A key of a Secret or ConfigMap in the agent's namespace."""

    name: ObjectName
    """Name of the object."""
    key: FileName
    """Key in its data."""


class FieldReference(ManifestModel):
    """A field of the pod itself."""

    field_path: Text
    """Such as `metadata.name` or `status.podIP`."""


class EnvSource(ManifestModel):
    """Where a variable's value comes from; exactly one."""

    secret_key_ref: KeyReference | None = None
    """A key of a Secret."""
    config_map_key_ref: KeyReference | None = None
    """A key of a ConfigMap."""
    field_ref: FieldReference | None = None
    """A field of the pod."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (
            sum(
                part is not None
                for part in (self.secret_key_ref, self.config_map_key_ref, self.field_ref)
            )
            != 1
        ):
            raise fault("expected exactly one of secretKeyRef, configMapKeyRef and fieldRef")
        return self


class EnvVar(ManifestModel):
    """An environment variable: a literal value, or a source."""

    name: EnvName
    """Name of the variable."""
    value: str | None = None
    """Literal value; never a credential."""
    value_from: EnvSource | None = None
    """Where the value comes from."""

    @model_validator(mode="after")
    def _value_or_source(self) -> Self:
        if (self.value is None) == (self.value_from is None):
            raise fault(
                "expected either value or valueFrom", found="both" if self.value else "neither"
            )
        return self


class EnvFromSource(ManifestModel):
    """All keys of a ConfigMap or Secret as variables."""

    config_map_ref: ObjectName | None = None
    """Name of a ConfigMap."""
    secret_ref: ObjectName | None = None
    """Name of a Secret."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.config_map_ref is None) == (self.secret_ref is None):
            raise fault("expected either configMapRef or secretRef")
        return self


class Resources(ManifestModel):
    """Requests and limits of the agent's container, by resource name."""

    requests: dict[ResourceName, Quantity] = Field(default_factory=dict)
    """What the scheduler reserves; defaults cpu 100m, memory 256Mi, ephemeral-storage 64Mi."""
    limits: dict[ResourceName, Quantity] = Field(default_factory=dict)
    """What the agent may use at most; defaults cpu 1, memory 1Gi, ephemeral-storage 1Gi."""

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
        """Requests and limits with the defaults filled in."""
        requests = {"cpu": "100m", "memory": "256Mi", "ephemeral-storage": "64Mi"} | self.requests
        limits = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"} | self.limits
        extended = {name: value for name, value in self.limits.items() if "/" in name}
        return extended | requests, limits


class HttpGet(ManifestModel):
    """An HTTP request to the agent."""

    path: Text = "/"
    """Path of the request."""
    port: Port | None = None
    """Port; default the exposed port."""


class Probe(ManifestModel):
    """A question that the kubelet asks the agent; exactly one of httpGet, command and tcpPort."""

    http_get: HttpGet | None = None
    """Ask by HTTP; 2xx and 3xx are good answers."""
    command: Items[Text] = ()
    """Ask by a command in the container; 0 is a good answer."""
    tcp_port: Port | None = None
    """Ask by opening a connection."""
    initial_delay_seconds: Annotated[int, Field(ge=0, le=3600)] = 0
    """Seconds before the first question; default 0."""
    period_seconds: Annotated[int, Field(ge=1, le=3600)] = 10
    """Seconds between questions; default 10."""
    timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 3
    """Seconds to wait for an answer; default 3."""
    failure_threshold: Annotated[int, Field(ge=1, le=1000)] = 3
    """Bad answers in a row until action is taken; default 3."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = (self.http_get is not None, bool(self.command), self.tcp_port is not None)
        if sum(given) != 1:
            raise fault("expected exactly one of httpGet, command and tcpPort")
        return self


class Probes(ManifestModel):
    """Start-up, liveness and readiness."""

    startup: Probe | None = None
    """Holds the other two back until it succeeds; default none."""
    liveness: Probe = Probe(http_get=HttpGet(path="/healthz"))
    """Restarts the container; default GET /healthz."""
    readiness: Probe = Probe(http_get=HttpGet(path="/.well-known/agent-card.json"))
    """Takes the pod out of the Service; default GET /.well-known/agent-card.json."""


class PreStop(ManifestModel):
    """What happens before SIGTERM; one of http, command and sleepSeconds."""

    http: AbsolutePath | None = None
    """Path requested on the exposed port."""
    command: Items[Text] = ()
    """Command run in the container."""
    sleep_seconds: Annotated[int, Field(ge=1, le=3600)] | None = None
    """Seconds slept, so that traffic drains; default 5 when nothing else is given."""

    @model_validator(mode="after")
    def _at_most_one(self) -> Self:
        given = (self.http is not None, bool(self.command), self.sleep_seconds is not None)
        if sum(given) > 1:
            raise fault("expected at most one of http, command and sleepSeconds")
        return self

    @property
    def reserved_seconds(self) -> int:
        """Seconds to leave for the hook when the grace period is derived."""
        return self.sleep_seconds or 5


class Lifecycle(ManifestModel):
    """How the agent ends."""

    pre_stop: PreStop = PreStop()
    """Hook before SIGTERM; default sleep 5 s."""
    termination_grace_period_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Seconds between SIGTERM and SIGKILL; default max(60, longest tool timeout + preStop)."""


class Placement(ManifestModel):
    """Where pods may run, in PodSpec's own words."""

    priority_class_name: ObjectName | None = None
    """PriorityClass of the pods."""
    runtime_class_name: ObjectName | None = None
    """RuntimeClass of the pods, such as gvisor."""
    node_selector: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels that a node must carry."""
    tolerations: Items[JsonObject] = ()
    """Taints that the pods tolerate (PodSpec.tolerations)."""
    affinity: JsonObject | None = None
    """Affinity rules (PodSpec.affinity)."""
    topology_spread_constraints: Items[JsonObject] | None = None
    """Spread rules; default over zones, best effort, when more than one replica runs."""
