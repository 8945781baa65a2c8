"""Who may call an agent, what it may reach, and what it may do."""

import ipaddress
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.agent.agent_types import CALLED, OnlyFor
from holdfast.manifest.agent.model import ObjectReference, Reference
from holdfast.manifest.text.faults import branch, chosen_by
from holdfast.manifest.types.conditions import Given, is_
from holdfast.manifest.types.hosts import DEFAULT_PORTS
from holdfast.manifest.types.kubernetes_fields import PodSecurityContext, SecurityContext
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import Domain, LabelName, QualifiedKey, RbacWord
from holdfast.manifest.types.references import RefersTo
from holdfast.manifest.types.rules import Computed, Found, OneOf, Rule, Ruled, finds
from holdfast.manifest.types.values import AbsolutePath, Cidr, Port, Text


class GatewayReference(ObjectReference):
    """A Gateway of Gateway API."""

    section_name: LabelName | None = None
    """Listener of the Gateway; default all that let the route in."""


class Expose(Ruled):
    """The Service in front of the agent, and the route that leads to it from outside."""

    RULES = tuple(
        Rule(
            f"gateway-for-{field}",
            Given(field).needs(Given("gateway_ref")),
            "has no effect without gatewayRef",
            remedy="name the Gateway, or remove it",
            at=field,
        )
        for field in ("hosts", "path")
    )

    port: Port = 8080
    """Port of the Service and of the agent; default 8080."""
    gateway_ref: GatewayReference | None = None
    """Gateway that routes to the agent (HTTPRoute); its pods may then call. Default none."""
    hosts: Items[Domain] = ()
    """Host names of the route; default the Gateway's. Needs gatewayRef."""
    path: AbsolutePath | None = None
    """What paths of the route begin with; default /. Needs gatewayRef."""


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


class EgressPort(ManifestModel):
    """A port, in the words of a NetworkPolicy."""

    port: Port
    """Port number, 1–65535."""
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    """Transport protocol; default TCP."""


class ServiceReference(ManifestModel):
    """A Service of the cluster."""

    namespace: LabelName | None = None
    """Namespace of the Service; default the agent's."""
    name: LabelName
    """Name of the Service."""


class EgressEntry(Ruled):
    """One thing that the agent may reach, by exactly one name."""

    RULES = (
        OneOf(("agent", "tool", "host", "service", "cidr", "api_server")),
        Rule(
            "service-has-ports",
            Given("service").needs(Given("ports")),
            "a service needs ports",
            remedy="name the ports of its pods, such as [{port: 5432}]",
        ),
        *(
            Rule(
                f"{field.replace('_', '-')}-brings-its-port",
                Given(field).excludes(Given("ports")),
                "has no effect: the port is known",
                remedy="remove it",
                at="ports",
            )
            for field in ("tool", "api_server")
        ),
    )

    agent: Annotated[Reference, RefersTo("Agent", "egress")] | None = None
    """Another agent, at its exposed port; it must name this one in its ingressFrom."""
    tool: Annotated[Reference, RefersTo("MCPServer", "tools")] | None = None
    """A tool server (MCPServer), which lets in who names it."""
    host: Domain | None = None
    """A domain, *. before it allowed, at port 443. Opened by Cilium where the stack declares it,
    else by its egress gateway, which passes on HTTPS only. The hosts of model, tools, databases
    and telemetry are open without an entry."""
    service: ServiceReference | None = None
    """A Service of the cluster; its namespace is opened at the ports."""
    cidr: Cidr | None = None
    """An address range, at every port unless ports are given; never a catch-all, metadata addresses
    are always left out."""
    api_server: Literal[True] | None = None
    """The API server, at the addresses that the stack names (holdfast:network.apiServer); open to
    agents with leaderElection without an entry."""
    ports: Items[EgressPort] = ()
    """Ports, as {port, protocol}."""

    @property
    def opened_ports(self) -> tuple[EgressPort, ...]:
        """The ports of a host or service, as given or by default."""
        return self.ports or (EgressPort(port=DEFAULT_PORTS["https"]),)


class Network(Ruled):
    """Everything that is not named here is denied."""

    RULES = (
        Rule(
            "deny-means-deny",
            is_("deny_egress", True).excludes(Given("egress")),
            "denyEgress excludes egress",
            at="egress",
            remedy="remove one of them",
        ),
        Rule(
            "egress-not-everything",
            Computed(
                why_not="ranges that cover everything together take arithmetic", fields=("egress",)
            ),
            "must not be a catch-all, not in parts either",
            remedy="name the networks that the agent needs",
            policy="egress-scoped",
        ),
    )

    expose: Annotated[Expose, OnlyFor(CALLED)] = Expose.model_construct()
    """The agent's port."""
    ingress_from: Annotated[
        Items[Annotated[Caller, RefersTo("Agent", "lets in")]], OnlyFor(CALLED)
    ] = ()
    """Callers of the agent; default none."""
    egress: Items[EgressEntry] = ()
    """What it may reach, beyond what its model, tools, dependsOn, databases, memory, skills and
    telemetry name: agents, tools, hosts, services, address ranges, the API server."""
    deny_egress: bool = False
    """Deny what follows from other fields, too: nothing is reached but DNS. Default false."""
    allow_dns: bool = Field(default=True, alias="allowDNS")
    """Name resolution at the cluster's DNS; default true."""

    @property
    def asks_api_server(self) -> bool:
        """Whether an entry opens the API server."""
        return any(each.api_server for each in self.egress)

    @property
    def cidrs(self) -> tuple[str, ...]:
        """Every range that is open at some port."""
        return tuple(each.cidr for each in self.egress if each.cidr is not None)

    def ranges_at(self, port: int | None, protocol: str = "TCP") -> tuple[str, ...]:
        """Ranges that are open at one port."""
        return tuple(
            each.cidr
            for each in self.egress
            if each.cidr is not None
            and (
                not each.ports
                or any(open_.port == port and open_.protocol == protocol for open_ in each.ports)
            )
        )


class ServiceAccount(Ruled):
    """The identity of the agent's pods."""

    RULES = (
        Rule(
            "account-own-or-named",
            is_("create", False).equals(Given("name")),
            "expected either create: true without name, or create: false with name",
            remedy="remove name for an account of its own, or write create: false",
        ),
        Rule(
            "account-annotations",
            Given("annotations").needs(is_("create", True)),
            "annotations need create: true",
            remedy="remove annotations, or write create: true and no name",
        ),
    )

    create: bool = True
    """Render a ServiceAccount of the agent's own; default true."""
    name: LabelName | None = None
    """Name of an existing ServiceAccount, with create: false."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations, such as the cloud role to assume."""


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
    "EgressEntry",
    "EgressPort",
    "Expose",
    "GatewayReference",
    "Namespace",
    "Network",
    "ObjectReference",
    "PolicyRule",
    "RbacGrant",
    "Security",
    "ServiceAccount",
    "ServiceReference",
]


@finds("egress-not-everything")
def _everything_in_parts(network: Network) -> Iterator[Found]:
    short = [ipaddress.IPv4Network(cidr) for cidr in network.cidrs if ":" not in cidr]
    long = [ipaddress.IPv6Network(cidr) for cidr in network.cidrs if ":" in cidr]
    lengths = [each.prefixlen for each in ipaddress.collapse_addresses(short)]
    lengths += [each.prefixlen for each in ipaddress.collapse_addresses(long)]
    if 0 in lengths:
        yield Found(("egress",), ", ".join(network.cidrs))
