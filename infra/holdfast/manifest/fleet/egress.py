"""What an agent reaches beyond its peers: inferred from its manifest, and listed in it.

Network policies are rendered from the same list that checks and explanations read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from holdfast.kube.paths import Segment
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.dependency import as_dependency
from holdfast.manifest.agent.lifecycle import fetched_url
from holdfast.manifest.agent.model import DIRECT
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.references import model_choices
from holdfast.manifest.fleet.topology import edges_of_agent
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, MODEL_CONFIG_KIND
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.hosts import DEFAULT_PORTS, Place, place_of

Sourced = tuple[str, tuple[Segment, ...]]
"""A URL, and the field of the agent's manifest that brings it in."""


@dataclass(frozen=True, slots=True)
class Destination:
    """One host that an agent talks to.

    Attributes:
        host: Domain (`*.` before it in listed ones), Service name or address; lower case.
        port: Port, or None for a domain that is listed without one.
        place: Where the host is.
        path: Field of the agent's manifest that brings it in.
    """

    host: str
    port: int | None
    place: Place
    path: tuple[Segment, ...]


def destinations_of(agent: DeclaredAgent, fleet: Fleet) -> tuple[Destination, ...]:
    """Every host that an agent reaches: what its references lead to, states itself, and lists.

    References that lead nowhere are left out.
    """
    referred = (
        *_urls_of_models(agent, fleet),
        *_urls_of_dependencies(agent, fleet),
        *_urls_of_tool_servers(agent, fleet),
    )
    listed = (
        Destination(domain, None, Place.EXTERNAL, ("spec", "network", "egress", "domains", index))
        for index, domain in enumerate(agent.spec.network.egress.domains)
    )
    return (
        *(_of_url(url, path) for url, path in referred),
        *stated_destinations(agent.spec, agent.namespace, fleet.environment),
        *listed,
    )


def stated_destinations(
    spec: AgentSpec, namespace: str, environment: Environment
) -> Iterator[Destination]:
    """Hosts that a manifest and its stack name outright: all but what references lead to.

    Services that it depends on, skills, tools, fetches, traces, Vault, databases and the store of
    the memory, each with its port.

    Args:
        spec: The agent.
        namespace: Where it lives.
        environment: Settings of the stack, on which some of it falls back.
    """
    for url, path in _stated_urls(spec, namespace, environment):
        yield _of_url(url, path)
    for index, database in enumerate(spec.databases):
        path = ("spec", "databases", index, "host")
        yield Destination(database.host, database.effective_port, place_of(database.host), path)
    if store := spec.memory.store_in(spec.databases, namespace):
        host, port = store
        yield Destination(host, port, place_of(host), ("spec", "memory", "storeRef"))


def _stated_urls(spec: AgentSpec, namespace: str, environment: Environment) -> Iterator[Sourced]:
    for index, reference in enumerate(spec.depends_on):
        needed = as_dependency(reference)
        if needed.kind == "Service":
            host = f"{needed.name}.{needed.namespace or namespace}.svc"
            yield f"http://{host}:{needed.port}", ("spec", "dependsOn", index)
    for index, skill in enumerate(spec.skills):
        if skill.git is not None:
            yield skill.git.url, ("spec", "skills", index, "git", "url")
        if skill.bucket is not None:
            yield skill.bucket.url, ("spec", "skills", index, "bucket", "url")
    for index, tool in enumerate(spec.tools):
        if tool.http is not None:
            yield tool.http.url, ("spec", "tools", index, "http", "url")
        elif tool.mcp is not None and tool.mcp.url is not None:
            yield tool.mcp.url, ("spec", "tools", index, "mcp", "url")
    for index, step in enumerate(spec.lifecycle.pre_start):
        if step.fetch is not None and (url := fetched_url(step.fetch, environment)):
            yield url, ("spec", "lifecycle", "preStart", index, "fetch", "uri")
    if endpoint := spec.telemetry.traces.endpoint or environment.telemetry.otlp_endpoint:
        yield endpoint, ("spec", "telemetry", "traces", "endpoint")
    yield from _urls_of_vault(spec, environment)


def _urls_of_vault(spec: AgentSpec, environment: Environment) -> Iterator[Sourced]:
    """Vault, which the injected sidecar of an agent asks."""
    vault = environment.secret_stores.vault
    for index, secret in enumerate(spec.secrets):
        if vault is not None and secret.provider == "vault":
            yield vault.address, ("spec", "secrets", index, "provider")


def _urls_of_tool_servers(agent: DeclaredAgent, fleet: Fleet) -> Iterator[Sourced]:
    for index, tool in enumerate(agent.spec.tools):
        if tool.mcp is None or tool.mcp.server_ref is None:
            continue
        server = fleet.mcp_server(tool.mcp.server_ref, agent.namespace)
        if server is not None:
            address = server.spec.address(server.namespace, server.name)
            yield address, ("spec", "tools", index, "mcp", "serverRef")


def _urls_of_models(agent: DeclaredAgent, fleet: Fleet) -> Iterator[Sourced]:
    settings = fleet.environment.models
    for choice, path in model_choices(agent):
        gateway = choice.gateway_ref or settings.gateway or DIRECT
        if gateway in settings.gateways:
            yield settings.gateways[gateway].url, path
        elif gateway == DIRECT and choice.base_url is not None:
            yield choice.base_url, (*path, "baseUrl")
        elif gateway == DIRECT and choice.ref is not None:
            shared = fleet.model_config(choice.ref, agent.namespace)
            if shared is not None and shared.spec.base_url is not None:
                yield shared.spec.base_url, (*path, "ref")


def _urls_of_dependencies(agent: DeclaredAgent, fleet: Fleet) -> Iterator[Sourced]:
    for edge in edges_of_agent(agent, fleet):
        name, namespace = edge.target.name, edge.target.namespace
        if edge.relation != "dependsOn":
            continue
        if edge.target.kind == MODEL_CONFIG_KIND:
            model = fleet.model_config(name, namespace)
            if model is not None and model.spec.base_url is not None:
                yield model.spec.base_url, edge.path
        elif edge.target.kind == MCP_SERVER_KIND:
            server = fleet.mcp_server(name, namespace)
            if server is not None:
                yield server.spec.address(server.namespace, server.name), edge.path


def _of_url(url: str, path: tuple[Segment, ...]) -> Destination:
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    return Destination(host, parts.port or DEFAULT_PORTS[parts.scheme], place_of(host), path)
