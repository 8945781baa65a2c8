"""What an agent refers to, resolved: models, tool servers, peers, and what the stack offers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from holdfast.errors import RenderError
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.dependency import DependencyReference, as_dependency
from holdfast.manifest.agent.exposure import Expose
from holdfast.manifest.agent.model import (
    ModelConfigSpec,
    ObjectReference,
    Reference,
    as_reference,
)
from holdfast.manifest.agent.tools import McpTool, Transport
from holdfast.manifest.fleet.capabilities import image_of, missing_capabilities
from holdfast.manifest.fleet.egress import Targets
from holdfast.manifest.fleet.tool_contracts import ServerContract
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.stack.environment import Environment, ImageName
from holdfast.manifest.types.hosts import DEFAULT_PORTS, HostKind, host_kind


@dataclass(frozen=True)
class Peer:
    """An agent or tool server of the stack that is called: its place and its port."""

    name: str
    namespace: str
    port: int

    @property
    def place(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def url(self) -> str:
        """Address inside the cluster."""
        return f"http://{self.name}.{self.namespace}.svc:{self.port}"


@dataclass(frozen=True)
class ResolvedToolServer:
    """A tool server that an agent names.

    Attributes:
        peer: What the stack runs for it; None where it runs elsewhere.
    """

    url: str
    transport: Transport
    digest: str | None
    peer: Peer | None


@dataclass(frozen=True)
class ResolvedDependency:
    """Something that runs before an agent starts.

    Attributes:
        peer: The agent, or tool server of the stack, it is; None when it is neither.
        url: Its address.
    """

    name: str
    url: str
    peer: Peer | None = None


@dataclass(frozen=True)
class Host:
    """The host of an address."""

    name: str
    port: int
    protocol: str = "TCP"

    @classmethod
    def of(cls, url: str) -> "Host":
        """Host and port of a URL that was validated."""
        parts = urlsplit(url)
        name = (parts.hostname or "").rstrip(".")
        return cls(name, parts.port or DEFAULT_PORTS[parts.scheme])

    def cluster_namespace(self, own_namespace: str) -> str | None:
        """Namespace of the Service it names, or None when it names none."""
        if host_kind(self.name) is not HostKind.CLUSTER:
            return None
        labels = self.name.removesuffix(".cluster.local").removesuffix(".svc").split(".")
        return labels[-1] if len(labels) > 1 else own_namespace


@dataclass(frozen=True)
class RenderContext:
    """Everything that one agent's rendering needs to know of the others and of its stack.

    Keys are (namespace, name). What is absent from `ports` is a peer declared elsewhere: it is
    taken to listen on the default port. `contracts` are the reviewed ones, by the servers' names in
    the lock.
    """

    environment: Environment = field(default_factory=Environment)
    models: Mapping[tuple[str, str], ModelConfigSpec] = field(default_factory=dict)
    servers: Mapping[tuple[str, str], McpServerSpec] = field(default_factory=dict)
    ports: Mapping[tuple[str, str], int] = field(default_factory=dict)
    contracts: Mapping[str, ServerContract] = field(default_factory=dict)

    @cached_property
    def targets(self) -> Targets:
        """What references may lead to."""
        return Targets(self.environment, self.models, self.servers, self.ports.keys())

    def peer(self, reference: Reference, namespace: str) -> Peer:
        """The agent that a reference made in `namespace` names."""
        place, name = as_reference(reference, namespace)
        return Peer(name, place, self.ports.get((place, name), Expose().port))

    def tool_server(self, reference: Reference, namespace: str) -> ResolvedToolServer | None:
        """The tool server that a reference made in `namespace` names; None when there is none."""
        place = as_reference(reference, namespace)
        spec = self.servers.get(place)
        if spec is None:
            return None
        peer = Peer(place[1], place[0], spec.port) if spec.is_hosted else None
        return ResolvedToolServer(spec.address(*place), spec.transport, spec.digest, peer)

    def tool_hints(self, tool: McpTool, namespace: str) -> dict[str, dict[str, bool]]:
        """What the reviewed tools that an agent of `namespace` may call say of their effects."""
        key = tool.url or ""
        if tool.server_ref is not None:
            key = "/".join(as_reference(tool.server_ref, namespace))
        contract = self.contracts.get(key)
        offered = contract.tools if contract else ()
        return {each.name: each.hints for each in offered if each.name in tool.tool_names}

    def dependency(
        self, reference: DependencyReference, agent: str, namespace: str
    ) -> ResolvedDependency:
        """What an agent of `namespace` depends on, with its address.

        Raises:
            RenderError: it is not declared, or has no address.
        """
        wanted = as_dependency(reference)
        place = (wanted.namespace or namespace, wanted.name)
        named = ObjectReference(namespace=place[0], name=place[1])
        if wanted.kind == "Service":
            return ResolvedDependency(
                wanted.name, f"http://{place[1]}.{place[0]}.svc:{wanted.port}"
            )
        if wanted.kind == "Agent" or (wanted.kind is None and place in self.ports):
            peer = self.peer(named, namespace)
            return ResolvedDependency(wanted.name, peer.url, peer)
        server = self.tool_server(named, namespace)
        if wanted.kind in {None, "MCPServer"} and server is not None:
            return ResolvedDependency(wanted.name, server.url, server.peer)
        url = None
        if wanted.kind in {None, "ModelConfig"} and place in self.models:
            url = self.models[place].base_url
        if url is None:
            raise RenderError(
                f"agent {agent}: spec.dependsOn: {place[0]}/{place[1]} is not declared, or has no "
                "address",
                remedy="declare it, or say {kind: Agent, name} or {kind: Service, name, port}",
            )
        return ResolvedDependency(wanted.name, url)

    def require_all(self, agent: str, spec: AgentSpec, *parts: Path) -> None:
        """Refuse a spec that needs what the stack does not offer.

        Args:
            agent: Name of the agent.
            spec: What it is and needs.
            parts: Fields below `spec`, alone or with what lies in them; none for all.

        Raises:
            RenderError: names the agent, the first such field, and where to declare what it needs.
        """
        for need in missing_capabilities(spec, self.environment):
            if not parts or any(need.path[: len(part)] == part for part in parts):
                path = format_path(("spec", *need.path))
                raise RenderError(f"agent {agent}: {path} {need.expected}", remedy=need.remedy)

    def image(self, name: ImageName) -> str:
        """One of the stack's images; that it is there was checked by `require_all`."""
        image = image_of(self.environment, name)
        assert image is not None, f"unchecked need of image {name}"  # noqa: S101 - an invariant
        return image
