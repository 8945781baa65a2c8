"""Containers beside the agent's: the typed ones that Holdfast adds, and those a manifest declares.

The typed ones are native sidecars (init containers that go on running): they are up before the
agent and end after it, and do not keep a Job from ending.
"""

import json
from typing import Any

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.workload_checks import CACHE_WARMER, LOG_SHIPPER, TELEMETRY_COLLECTOR
from holdfast.render.plan.metadata import AgentMetadata
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.container import TEMPORARY_MOUNT, security_context
from holdfast.render.pod.environment import LOG_FOLDER, OTLP_PORTS, otlp_endpoint, proxy_env
from holdfast.render.pod.tool_container import SMALL, Script, added_container, script_container
from holdfast.render.pod.tool_scripts import WARM

LOG_VOLUME: KubeObject = {"name": "logs", "emptyDir": {"sizeLimit": "256Mi"}}
LOG_MOUNT: KubeObject = {"name": "logs", "mountPath": LOG_FOLDER}


def typed_sidecars(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[KubeObject]:
    """Log shipper, telemetry collector and cache warmer, as far as they are asked for."""
    sidecars = []
    if spec.telemetry.logs.shipper == "sidecar":
        image = context.image("logShipper")
        config = _log_pipeline(meta, spec, context)
        mounts = [LOG_MOUNT | {"readOnly": True}]
        sidecars.append(_collector(LOG_SHIPPER, image, spec, context, config, mounts))
    if spec.telemetry.traces.inject == "sidecar":
        image = context.image("telemetryCollector")
        config = _trace_pipeline(spec, context)
        sidecars.append(_collector(TELEMETRY_COLLECTOR, image, spec, context, config, []))
    if warmer := spec.pod.cache_warmer:
        variables = {
            "WARM_URL": f"http://localhost:{spec.network.expose.port}{warmer.http}",
            "WARM_INTERVAL_SECONDS": str(warmer.interval_seconds),
        }
        image = context.image("tools")
        sidecars.append(script_container(CACHE_WARMER, image, spec, Script(WARM, variables)))
    return [{**sidecar, "restartPolicy": "Always"} for sidecar in sidecars]


def declared_container(container: KubeObject, spec: AgentSpec) -> KubeObject:
    """A declared container over the defaults of every container: restricted, limited, pinned."""
    mounts = list(container.get("volumeMounts") or ())
    is_read_only = spec.pod.security.read_only_root_filesystem
    if is_read_only and all(
        mount.get("mountPath") != TEMPORARY_MOUNT["mountPath"] for mount in mounts
    ):
        mounts.append(dict(TEMPORARY_MOUNT))
    defaults: KubeObject = {
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": dict(SMALL), "limits": dict(SMALL)},
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    own = {"securityContext": security_context(spec) | (container.get("securityContext") or {})}
    return defaults | container | own | ({"volumeMounts": mounts} if mounts else {})


def _collector(
    name: str,
    image: str,
    spec: AgentSpec,
    context: RenderContext,
    config: dict[str, Any],
    mounts: list[KubeObject],
) -> KubeObject:
    """An OpenTelemetry Collector whose whole configuration stands in a variable."""
    text = json.dumps(config, sort_keys=True, separators=(",", ":")).replace("$", "$$")
    env = [{"name": "COLLECTOR_CONFIG", "value": text}, *proxy_env(spec, context)]
    container = added_container(name, image, spec, env=env, mounts=mounts)
    return container | {"args": ["--config=env:COLLECTOR_CONFIG"]}


def _exporter(spec: AgentSpec, context: RenderContext) -> tuple[str, dict[str, Any]]:
    endpoint = otlp_endpoint(spec, context)
    name = "otlp" if spec.telemetry.traces.protocol == "grpc" else "otlphttp"
    return name, {name: {"endpoint": endpoint}}


def _pipeline(
    signal: str,
    receivers: dict[str, Any],
    processors: dict[str, Any],
    exporter: tuple[str, dict[str, Any]],
) -> dict[str, Any]:
    name, exporters = exporter
    parts = {"receivers": [*receivers], "processors": [*processors], "exporters": [name]}
    return {
        "receivers": receivers,
        "processors": processors,
        "exporters": exporters,
        "service": {"pipelines": {signal: parts}, "telemetry": {"metrics": {"level": "none"}}},
    }


def _trace_pipeline(spec: AgentSpec, context: RenderContext) -> dict[str, Any]:
    protocols = {
        name: {"endpoint": f"127.0.0.1:{port}"}
        for name, port in (
            ("grpc", OTLP_PORTS["grpc"]),
            ("http", OTLP_PORTS["http/protobuf"]),
        )
    }
    receivers = {"otlp": {"protocols": protocols}}
    return _pipeline("traces", receivers, {"batch": {}}, _exporter(spec, context))


def _log_pipeline(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> dict[str, Any]:
    receiver: dict[str, Any] = {"include": [f"{LOG_FOLDER}/*.log"], "start_at": "beginning"}
    if spec.telemetry.logs.format == "json":
        receiver["operators"] = [{"type": "json_parser", "on_error": "send_quiet"}]
    identity = {
        "service.name": meta.name,
        "service.namespace": meta.namespace,
        "service.version": spec.version,
        "deployment.environment.name": meta.origin.stack,
    }
    attributes = [
        {"action": "upsert", "key": key, "value": value} for key, value in identity.items()
    ]
    processors = {"resource": {"attributes": attributes}, "batch": {}}
    return _pipeline("logs", {"filelog": receiver}, processors, _exporter(spec, context))
