"""What an agent reaches beyond other agents: inferred from its manifest, and listed in it.

Checks, explanations and network policies read the same list.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from holdfast.kube.paths import Path
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.dependency import Dependency, as_dependency
from holdfast.manifest.agent.lifecycle import Fetch
from holdfast.manifest.agent.memory import Database, Memory
from holdfast.manifest.agent.model import DIRECT, ModelAccess, ModelConfigSpec, as_reference
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.references import model_choices
from holdfast.manifest.kinds.kinds import McpServer, ModelConfig
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.stack.environment import Environment, ObjectStore
from holdfast.manifest.types.hosts import DEFAULT_PORTS, HostKind, host_kind
from holdfast.manifest.types.references import Reaches, RefersTo, marked

PROVIDER_URLS: Final[Mapping[str, str]] = {
    "anthropic": "https://api.anthropic.com/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "mistral": "https://api.mistral.ai/v1",
    "openai": "https://api.openai.com/v1",
}
"""Provider, in lower case, to its own address."""
ObjectKey = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class Destination:
    """One host that an agent talks to.

    Attributes:
        host: Domain (`*.` before it in listed ones), Service name or address; lower case.
        port: Port.
        kind: Where the host is.
        path: Field of the agent's manifest that brings it in.
        is_https: Whether it is asked by HTTPS, which an egress gateway passes on.
        protocol: Transport protocol.
        is_hosted: Whether it is a tool server that the stack runs: its pods are opened by label.
    """

    host: str
    port: int
    kind: HostKind
    path: Path
    is_hosted: bool = False
    is_https: bool = True
    protocol: str = "TCP"


@dataclass(frozen=True)
class Targets:
    """What references may lead to, by namespace and name, and the settings of the stack."""

    environment: Environment = field(default_factory=Environment)
    models: Mapping[ObjectKey, ModelConfigSpec] = field(default_factory=dict)
    servers: Mapping[ObjectKey, McpServerSpec] = field(default_factory=dict)
    agents: Collection[ObjectKey] = ()


def targets_of(fleet: Fleet) -> Targets:
    """What the agents of a fleet may refer to."""
    return Targets(
        fleet.environment,
        models={(each.namespace, each.name): each.spec for each in fleet.of(ModelConfig)},
        servers={(each.namespace, each.name): each.spec for each in fleet.of(McpServer)},
        agents=frozenset((each.namespace, each.name) for each in fleet.agents),
    )


def destinations_of(spec: AgentSpec, namespace: str, targets: Targets) -> tuple[Destination, ...]:
    """Every host that an agent reaches: what its references lead to, states itself, and lists.

    Agents among them are left out, and references that lead nowhere.

    Args:
        spec: The agent.
        namespace: Where it lives.
        targets: What it may refer to.
    """
    return (
        *_models(spec, namespace, targets),
        *_referred(spec, namespace, targets),
        *_stated(spec, namespace, targets.environment),
        *_listed(spec, namespace),
    )


def model_url(choice: ModelAccess, namespace: str, targets: Targets) -> tuple[str, str] | None:
    """Address at which an agent of a namespace asks a model, and the field that says it.

    A gateway of the stack comes before any address of the model itself; None for the provider's
    own address. The field is empty for a gateway.
    """
    settings = targets.environment.models
    gateway = choice.gateway_ref or settings.gateway or DIRECT
    if gateway != DIRECT:
        found = settings.gateways.get(gateway)
        return (found.url, "") if found else None
    if choice.base_url is not None:
        return choice.base_url, "baseUrl"
    shared = targets.models.get(as_reference(choice.ref, namespace)) if choice.ref else None
    return (shared.base_url, "ref") if shared is not None and shared.base_url else None


def _listed(spec: AgentSpec, namespace: str) -> Iterator[Destination]:
    """Hosts and Services in `network.egress`; a TCP port of a host counts as HTTPS."""
    for index, entry in enumerate(spec.network.egress):
        path: Path = ("spec", "network", "egress", index)
        host, at = entry.host, "host"
        if entry.service is not None:
            place = entry.service.namespace or namespace
            host, at = f"{entry.service.name}.{place}.svc", "service"
        for each in entry.opened_ports if host is not None else ():
            assert host is not None  # noqa: S101 - just asked
            yield Destination(
                host,
                each.port,
                host_kind(host),
                (*path, at),
                is_https=each.protocol == "TCP",
                protocol=each.protocol,
            )


def _models(spec: AgentSpec, namespace: str, targets: Targets) -> Iterator[Destination]:
    for choice, path in model_choices(spec):
        if found := model_url(choice, namespace, targets):
            url, name = found
            is_part = name and path[-1] != "embeddingModelRef"
            yield _of_url(url, (*path, name) if is_part else path)
        elif own := _provider_url(choice, namespace, targets):
            yield _of_url(own, path)


def _provider_url(choice: ModelAccess, namespace: str, targets: Targets) -> str | None:
    """Where a model is asked whose address nobody says.

    None for a provider that is not known, and on a stack that cannot open a domain.
    """
    if targets.environment.opens_domains is None:
        return None
    shared = targets.models.get(as_reference(choice.ref, namespace)) if choice.ref else None
    provider = (shared.provider if shared else choice.provider) or ""
    return PROVIDER_URLS.get(provider.lower())


def _referred(spec: AgentSpec, namespace: str, targets: Targets) -> Iterator[Destination]:
    """Tool servers, and what the agent depends on."""
    for each in marked(spec, RefersTo):
        if each.mark.relation == "tools":
            key = as_reference(each.value, namespace)
            yield from _server(key, each.path, targets)
        elif each.mark.relation == "dependsOn":
            yield from _dependency(as_dependency(each.value), namespace, each.path, targets)


def _server(key: ObjectKey, path: Path, targets: Targets) -> Iterator[Destination]:
    if (server := targets.servers.get(key)) is not None:
        yield _of_url(server.address(*key), path, is_hosted=server.is_hosted)


def _dependency(
    needed: Dependency, namespace: str, path: Path, targets: Targets
) -> Iterator[Destination]:
    key = (needed.namespace or namespace, needed.name)
    if needed.kind == "Service":
        yield _of_url(f"http://{key[1]}.{key[0]}.svc:{needed.port}", path)
    elif needed.kind == "Agent" or (needed.kind is None and key in targets.agents):
        return
    elif needed.kind in {None, "MCPServer"} and key in targets.servers:
        yield from _server(key, path, targets)
    elif (model := targets.models.get(key)) is not None and model.base_url:
        yield _of_url(model.base_url, path)


def _stated(spec: AgentSpec, namespace: str, environment: Environment) -> Iterator[Destination]:
    """Hosts that a manifest and its stack name outright."""
    for each in marked(spec, Reaches):
        part = each.part
        if isinstance(part, ModelAccess):
            continue  # asked through a gateway, perhaps
        if isinstance(part, Database):
            kind = host_kind(part.host)
            port = part.effective_port
            yield Destination(part.host, port, kind, each.path, is_https=False)
        elif isinstance(part, Memory):
            if store := part.store_in(spec.storage.databases, namespace):
                yield Destination(*store, host_kind(store[0]), each.path, is_https=False)
        elif not isinstance(part, Fetch):
            yield _of_url(each.value, each.path)
        elif url := fetched_url(part, environment):
            yield _of_url(url, each.path)
    if spec.telemetry.traces.endpoint is None and environment.telemetry.otlp_endpoint:
        path = ("spec", "telemetry", "traces", "endpoint")
        yield _of_url(environment.telemetry.otlp_endpoint, path)
    vault = environment.secret_stores.vault
    for index, secret in enumerate(spec.secrets):
        if vault is not None and secret.provider == "vault":
            yield _of_url(vault.address, ("spec", "secrets", index, "provider"))


def _of_url(url: str, path: Path, *, is_hosted: bool = False) -> Destination:
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    is_https = parts.scheme == "https"
    return Destination(host, port, host_kind(host), path, is_hosted, is_https)


def store_of(fetch: Fetch, environment: Environment) -> ObjectStore | None:
    """The store that a fetch names by its scheme; None for http and https."""
    stores = {"s3": environment.object_stores.s3, "gs": environment.object_stores.gs}
    return stores.get(fetch.scheme)


def fetched_url(fetch: Fetch, environment: Environment) -> str | None:
    """Address that is requested; None when the stack does not declare the store."""
    if fetch.scheme in {"http", "https"}:
        return fetch.uri
    store = store_of(fetch, environment)
    if store is None:
        return None
    parts = urlsplit(fetch.uri)
    return f"{store.endpoint.rstrip('/')}/{parts.netloc}{parts.path}"
