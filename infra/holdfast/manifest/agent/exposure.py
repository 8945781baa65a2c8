"""Who may call an agent, what it may reach, and what it may do."""

import ipaddress
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.agent.model import ObjectReference, Reference
from holdfast.manifest.text.faults import branch, chosen_by, fault
from holdfast.manifest.types.kubernetes_fields import PodSecurityContext, SecurityContext
from holdfast.manifest.types.references import RefersTo
from holdfast.manifest.types.values import (
    AbsolutePath,
    Cidr,
    Domain,
    Items,
    LabelName,
    ManifestModel,
    Port,
    QualifiedKey,
    RbacWord,
    Text,
)


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

    expose: Expose = Expose.model_construct()
    """The agent's port."""
    ingress_from: Items[Annotated[Caller, RefersTo("Agent", "lets in")]] = ()
    """Who may call the agent; default nobody."""
    peers: Items[Annotated[Reference, RefersTo("Agent", "peer")]] = ()
    """Agents it may call; each must name this one in its ingressFrom."""
    egress: Egress = Egress.model_construct()
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


class PolicyRule(ManifestModel):
    """Rights, in the words of a Role; wildcards are refused."""

    api_groups: Items[RbacWord] = ("",)
    """API groups; default the core group."""
    resources: Items[RbacWord]
    """Resources, such as pods/log."""
    verbs: Items[RbacWord]
    """Verbs, such as get and list."""
    resource_names: Items[Text] = ()
    """Only these objects; default all."""


class RbacGrant(ManifestModel):
    """Rights in some namespaces."""

    namespaces: Items[LabelName] = ()
    """Namespaces in which they hold, each with a Role of its own; default the agent's."""
    rules: Items[PolicyRule]
    """The rights."""


class Security(ManifestModel):
    """What a compromised agent could do; the defaults meet the restricted Pod Security standard."""

    pod_security_context: PodSecurityContext = Field(default_factory=dict)
    """Merged over the default PodSecurityContext, in its own words."""
    security_context: SecurityContext = Field(default_factory=dict)
    """Merged over the default SecurityContext of every container, in its own words."""
    read_only_root_filesystem: bool = True
    """Mount the image read-only and give a small /tmp; default true."""
    service_account: ServiceAccount = ServiceAccount.model_construct()
    """The agent's identity."""
    rbac: Items[RbacGrant] = ()
    """Rights at the API server; default none."""
    automount_token: bool = False
    """Mount the ServiceAccount's token; default false."""


__all__ = [
    "Caller",
    "Egress",
    "Expose",
    "GatewayReference",
    "Namespace",
    "Network",
    "ObjectReference",
    "PolicyRule",
    "RbacGrant",
    "Security",
    "ServiceAccount",
]
