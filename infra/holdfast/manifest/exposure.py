"""How many run, who may call them, what they may reach, and what they may do."""

import ipaddress
import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from holdfast.manifest.faults import branch, chosen_by, fault
from holdfast.manifest.model import ObjectReference, Reference
from holdfast.manifest.values import (
    AbsolutePath,
    Cidr,
    Domain,
    IntOrPercent,
    Items,
    JsonObject,
    LabelName,
    ManifestModel,
    Port,
    QualifiedKey,
    Text,
)

MAX_REPLICAS = 1000
Replicas = Annotated[int, Field(ge=0, le=MAX_REPLICAS)]


class ScalingMetric(ManifestModel):
    """What the autoscaler looks at."""

    type: Literal["Resource", "Pods", "External"]
    """Resource: target is percent of the request. Pods and External: target is an average value."""
    name: Text
    """Resource (cpu, memory) or metric name."""
    target: Annotated[int, Field(ge=1)]
    """Value to hold: percent for Resource, else an average per pod."""

    @model_validator(mode="after")
    def _known_resource(self) -> Self:
        if self.type == "Resource" and self.name not in {"cpu", "memory"}:
            raise fault("a Resource metric is cpu or memory", found=repr(self.name))
        return self


class Scaling(ManifestModel):
    """A fixed number of replicas, or a range for the autoscaler."""

    replicas: Replicas | None = None
    """Fixed number; default 1. Excludes minReplicas and maxReplicas."""
    min_replicas: Annotated[int, Field(ge=1, le=MAX_REPLICAS)] | None = None
    """Fewest replicas; with maxReplicas."""
    max_replicas: Annotated[int, Field(ge=1, le=MAX_REPLICAS)] | None = None
    """Most replicas; with minReplicas."""
    metrics: Items[ScalingMetric] = ()
    """What to scale on; required with a range."""
    behavior: JsonObject | None = None
    """HorizontalPodAutoscaler behavior, in its own words; default Kubernetes'."""

    @model_validator(mode="after")
    def _fixed_or_range(self) -> Self:
        ends = (self.min_replicas, self.max_replicas)
        if self.replicas is not None and (any(ends) or self.metrics or self.behavior):
            raise fault("replicas excludes minReplicas, maxReplicas, metrics and behavior")
        if (self.min_replicas is None) != (self.max_replicas is None):
            raise fault("expected both minReplicas and maxReplicas")
        if self.min_replicas is None and (self.metrics or self.behavior):
            raise fault("metrics and behavior need minReplicas and maxReplicas")
        if self.min_replicas and self.max_replicas:
            if self.min_replicas > self.max_replicas:
                found = f"{self.min_replicas} > {self.max_replicas}"
                raise fault("minReplicas must not exceed maxReplicas", found=found)
            if not self.metrics:
                raise fault(
                    "a range needs metrics", remedy="say what to scale on, such as cpu at 70"
                )
        return self

    @property
    def is_automatic(self) -> bool:
        """Whether an autoscaler owns the number of replicas."""
        return self.max_replicas is not None

    @property
    def most_replicas(self) -> int:
        """The largest number that may run."""
        return self.max_replicas or (1 if self.replicas is None else self.replicas)

    @property
    def fewest_replicas(self) -> int:
        """The smallest number that may run."""
        return self.min_replicas or (1 if self.replicas is None else self.replicas)


class DisruptionBudget(ManifestModel):
    """How many pods a drain may take at once."""

    max_unavailable: IntOrPercent = 1
    """Number or percent; default 1."""


class Availability(ManifestModel):
    """What keeps the agent up while nodes come and go."""

    pdb: DisruptionBudget = DisruptionBudget()
    """Disruption budget; rendered when more than one replica runs."""


class Rollout(ManifestModel):
    """How a change reaches the pods."""

    strategy: Literal["RollingUpdate", "Recreate"] = "RollingUpdate"
    """RollingUpdate, or Recreate; a single-writer claim forces Recreate."""
    max_surge: IntOrPercent = 1
    """Pods above the number wanted, during an update; default 1."""
    max_unavailable: IntOrPercent = 0
    """Pods below the number wanted, during an update; default 0."""
    progress_deadline_seconds: Annotated[int, Field(ge=1, le=86_400)] = 600
    """Seconds after which an update counts as stuck; default 600."""


class GatewayReference(ObjectReference):
    """A Gateway of Gateway API."""

    section_name: LabelName | None = None
    """Listener of the Gateway; default all that let the route in."""


class Expose(ManifestModel):
    """The Service in front of the agent, and the route that leads to it from outside."""

    port: Port = 8080
    """Port of the Service and of the agent; default 8080."""
    gateway_ref: GatewayReference | None = None
    """Gateway that routes to the agent (HTTPRoute); its pods may then call. Default none."""
    hosts: Items[Domain] = ()
    """Host names of the route; default the Gateway's. Needs gatewayRef."""
    path: AbsolutePath | None = None
    """What paths of the route begin with; default /. Needs gatewayRef."""

    @model_validator(mode="after")
    def _routed_by_a_gateway(self) -> Self:
        for field in ("hosts", "path"):
            if self.gateway_ref is None and getattr(self, field):
                remedy = "name the Gateway, or remove it"
                raise fault("has no effect without gatewayRef", remedy=remedy, at=(field,))
        return self


class Namespace(ManifestModel):
    """A whole namespace as a caller."""

    namespace: LabelName
    """Name of the namespace; every pod in it may call."""


GATEWAY = "gateway"


def _caller_shape(value: object) -> str | None:
    if isinstance(value, str):
        return "name"
    if isinstance(value, dict):
        return "reference" if "name" in value or "namespace" not in value else "namespace"
    if isinstance(value, ObjectReference):
        return "reference"
    return "namespace" if isinstance(value, Namespace) else None


Caller = Annotated[
    Annotated[LabelName, branch("name")]
    | Annotated[ObjectReference, branch("reference")]
    | Annotated[Namespace, branch("namespace")],
    chosen_by(
        _caller_shape,
        'expected "gateway", an agent\'s name, {namespace, name} or {namespace}',
    ),
]
"""An agent by name, `{namespace, name}`, a whole `{namespace}`, or the stack's `gateway`."""


class Egress(ManifestModel):
    """What the agent may reach, beyond its peers."""

    mode: Literal["allowList", "denyAll"] = "allowList"
    """allowList: the entries here and those inferred; denyAll: nothing but DNS."""
    domains: Items[Domain] = ()
    """Domains, joined by those of model, tools, databases and telemetry; port 443. By Cilium where
    the stack declares it, else by its egress gateway."""
    cidrs: Items[Cidr] = ()
    """Address ranges; never a catch-all, metadata addresses are always left out."""
    allow_dns: bool = Field(default=True, alias="allowDNS")
    """Name resolution at the cluster's DNS; default true."""

    @model_validator(mode="after")
    def _deny_means_deny(self) -> Self:
        if self.mode == "denyAll" and (self.domains or self.cidrs):
            raise fault("denyAll excludes domains and cidrs")
        return self

    @model_validator(mode="after")
    def _not_everything_in_parts(self) -> Self:
        short = [ipaddress.IPv4Network(cidr) for cidr in self.cidrs if ":" not in cidr]
        long = [ipaddress.IPv6Network(cidr) for cidr in self.cidrs if ":" in cidr]
        lengths = [each.prefixlen for each in ipaddress.collapse_addresses(short)]
        lengths += [each.prefixlen for each in ipaddress.collapse_addresses(long)]
        if 0 in lengths:
            raise fault(
                "must not be a catch-all, not in parts either",
                found=", ".join(self.cidrs),
                remedy="name the networks that the agent needs",
                rule="egress-scoped",
                at=("cidrs",),
            )
        return self


class Network(ManifestModel):
    """Everything that is not named here is denied."""

    expose: Expose = Expose()
    """The agent's port."""
    ingress_from: Items[Caller] = ()
    """Who may call the agent; default nobody."""
    peers: Items[Reference] = ()
    """Agents it may call; each must name this one in its ingressFrom."""
    egress: Egress = Egress()
    """What else it may reach."""


class ServiceAccount(ManifestModel):
    """The identity of the agent's pods."""

    create: bool = True
    """Render a ServiceAccount of the agent's own; default true."""
    name: LabelName | None = None
    """Name of an existing ServiceAccount, with create: false."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations, such as the cloud role to assume."""

    @model_validator(mode="after")
    def _own_or_named(self) -> Self:
        if self.create == (self.name is not None):
            raise fault("expected either create: true without name, or create: false with name")
        if not self.create and self.annotations:
            raise fault("annotations need create: true")
        return self


def _rbac_word(value: str) -> str:
    if "*" in value:
        remedy = "name what the agent needs"
        raise fault("wildcards are not allowed", remedy=remedy, rule="rbac-no-wildcards")
    if re.search(r"\s", value):
        raise fault("expected a word without spaces")
    return value


RbacWord = Annotated[
    str, AfterValidator(_rbac_word), WithJsonSchema({"type": "string", "pattern": r"^[^*\s]*$"})
]


class PolicyRule(ManifestModel):
    """Rights in the agent's namespace; wildcards are refused."""

    api_groups: Items[RbacWord] = ("",)
    """API groups; default the core group."""
    resources: Items[RbacWord]
    """Resources, such as pods/log."""
    verbs: Items[RbacWord]
    """Verbs, such as get and list."""
    resource_names: Items[Text] = ()
    """Only these objects; default all."""


class Security(ManifestModel):
    """What a compromised agent could do; the defaults meet the restricted Pod Security standard."""

    pod_security_context: JsonObject = Field(default_factory=dict)
    """Merged over the default PodSecurityContext, in its own words."""
    security_context: JsonObject = Field(default_factory=dict)
    """Merged over the default SecurityContext of every container, in its own words."""
    read_only_root_filesystem: bool = True
    """Mount the image read-only and give a small /tmp; default true."""
    service_account: ServiceAccount = ServiceAccount()
    """The agent's identity."""
    rbac_rules: Items[PolicyRule] = ()
    """Rights at the API server; default none."""
    automount_token: bool = False
    """Mount the ServiceAccount's token; default false."""


__all__ = [
    "Availability",
    "Caller",
    "DisruptionBudget",
    "Egress",
    "Expose",
    "GatewayReference",
    "Namespace",
    "Network",
    "ObjectReference",
    "PolicyRule",
    "Rollout",
    "Scaling",
    "ScalingMetric",
    "Security",
    "ServiceAccount",
]
