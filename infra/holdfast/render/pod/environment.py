"""The environment variables of an agent: what Holdfast sets, then what its manifest says."""

from collections.abc import Iterable
from typing import Any

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.container import EnvVar
from holdfast.render.objects.agent_card import CARD_KEY, has_card
from holdfast.render.objects.identity import lease_name
from holdfast.render.objects.secrets import secret_name
from holdfast.render.plan.dependencies import dependency_env
from holdfast.render.plan.metadata import AgentMetadata
from holdfast.render.plan.models import model_env
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.settings import SETTINGS_FOLDER

LOG_FOLDER = "/var/log/agent"
OTLP_PORTS = {"grpc": 4317, "http/protobuf": 4318}
POD_VARIABLE = "AGENT_POD_NAME"
"""Stands before the variables that name it: Kubernetes expands only what it has read already."""


def render_env(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> list[KubeObject]:
    """Every variable, sorted by name; the manifest's own entries win over ours."""
    variables: dict[str, KubeObject] = {
        name: {"name": name, "value": value} for name, value in _ours(meta, spec, context).items()
    }
    pod = {"fieldRef": {"fieldPath": "metadata.name"}}
    variables[POD_VARIABLE] = {"name": POD_VARIABLE, "valueFrom": pod}
    for secret in spec.secrets:
        if secret.env:
            reference = {"name": secret_name(meta, secret), "key": secret.key}
            source = {"secretKeyRef": reference}
            variables[secret.env] = {"name": secret.env, "valueFrom": source}
    variables |= {entry.name: _declared(entry) for entry in spec.container.env}
    return [variables[name] for name in sorted(variables)]


def render_env_from(spec: AgentSpec) -> list[KubeObject]:
    """Whole ConfigMaps and Secrets as variables, in the declared order (later ones win)."""
    return [
        entry.model_dump(by_alias=True, exclude_defaults=True, mode="json")
        for entry in spec.container.env_from
    ]


def otlp_endpoint(spec: AgentSpec, context: RenderContext) -> str | None:
    """Where traces go: the agent's own endpoint, else the stack's."""
    return spec.telemetry.traces.endpoint or context.environment.telemetry.otlp_endpoint


def render_declared_env(entries: Iterable[EnvVar]) -> list[KubeObject]:
    """Variables as the manifest declares them, sorted by name."""
    return [_declared(entry) for entry in sorted(entries, key=lambda entry: entry.name)]


def proxy_env(spec: AgentSpec, context: RenderContext) -> list[KubeObject]:
    """The way to domains outside, for containers beside the agent's."""
    return [{"name": name, "value": value} for name, value in render_proxy(spec, context).items()]


def _declared(entry: EnvVar) -> KubeObject:
    return entry.model_dump(by_alias=True, exclude_none=True)


def _ours(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> dict[str, str]:
    variables = {
        "AGENT_NAME": meta.name,
        "AGENT_NAMESPACE": meta.namespace,
        "AGENT_STACK": meta.origin.stack,
        "AGENT_VERSION": spec.version,
        "AGENT_CONFIG_FILE": f"{SETTINGS_FOLDER}/agent.json",
        "LOG_FORMAT": spec.telemetry.logs.format,
        "LOG_LEVEL": spec.telemetry.logs.level,
    }
    if meta.owner:
        variables["AGENT_OWNER"] = meta.owner
    if has_card(spec):
        variables["AGENT_CARD_FILE"] = f"{SETTINGS_FOLDER}/{CARD_KEY}"
    return (
        variables
        | dependency_env(meta, spec, context)
        | model_env(meta, spec, context)
        | _memory(meta, spec)
        | _databases(spec)
        | _traces(meta, spec, context)
        | render_proxy(spec, context)
        | _sidecars(meta, spec)
    )


def _traces(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> dict[str, str]:
    endpoint = otlp_endpoint(spec, context)
    if endpoint is None:
        return {}
    attributes: dict[str, Any] = {
        "service.namespace": meta.namespace,
        "service.version": spec.version,
        "service.instance.id": f"$({POD_VARIABLE})",
        "k8s.namespace.name": meta.namespace,
        "k8s.pod.name": f"$({POD_VARIABLE})",
        "deployment.environment.name": meta.origin.stack,
    }
    traces = spec.telemetry.traces
    if traces.inject == "sidecar":
        endpoint = f"http://localhost:{OTLP_PORTS[traces.protocol]}"
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": traces.protocol,
        "OTEL_SERVICE_NAME": meta.name,
        "OTEL_RESOURCE_ATTRIBUTES": ",".join(f"{key}={attributes[key]}" for key in attributes),
        "OTEL_PROPAGATORS": "tracecontext,baggage",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": str(traces.sampling),
    }


def _memory(meta: AgentMetadata, spec: AgentSpec) -> dict[str, str]:
    store = spec.memory.store_in(spec.storage.databases, meta.namespace)
    if store is None:
        return {}
    return {"MEMORY_STORE_HOST": store[0], "MEMORY_STORE_PORT": str(store[1])}


def _databases(spec: AgentSpec) -> dict[str, str]:
    secrets = {secret.name: secret for secret in spec.secrets}
    variables: dict[str, str] = {}
    for database in spec.storage.databases:
        prefix = database.variable_prefix
        variables[f"{prefix}_HOST"] = database.host
        variables[f"{prefix}_PORT"] = str(database.effective_port)
        secret = secrets.get(database.secret or "")
        if secret and secret.mount_path:
            file = f"{secret.mount_path.rstrip('/')}/{secret.key or ''}".rstrip("/")
            variables[f"{prefix}_CREDENTIALS_FILE"] = file
        elif secret and secret.env:
            variables[f"{prefix}_CREDENTIALS_ENV"] = secret.env
    return variables


def _sidecars(meta: AgentMetadata, spec: AgentSpec) -> dict[str, str]:
    variables = {}
    if spec.telemetry.logs.shipper == "sidecar":
        variables["LOG_FOLDER"] = LOG_FOLDER
    if spec.scaling.leader_election:
        variables |= {"LEASE_NAME": lease_name(meta), "LEASE_NAMESPACE": meta.namespace}
    return variables


def render_proxy(spec: AgentSpec, context: RenderContext) -> dict[str, str]:
    """Variables that lead to the stack's egress gateway, where the agent uses it."""
    environment = context.environment
    gateway = environment.network.egress_gateway
    is_used = environment.opens_domains == "gateway" and not spec.network.deny_egress
    if gateway is None or not is_used:
        return {}
    # Clients of the API server ask for it by its Service's address, which only the kubelet knows.
    direct = (
        *(".svc", ".svc.cluster.local", "localhost", "127.0.0.1", "$(KUBERNETES_SERVICE_HOST)"),
        *environment.network.api_server.cidrs,
        *spec.network.cidrs,
    )
    return {"HTTPS_PROXY": gateway.url, "NO_PROXY": ",".join(dict.fromkeys(direct))}
