"""What an agent needs its stack to offer: controllers, images, a store, a source of metrics.

Said once: `holdfast validate` names the line, and rendering refuses a program's agent in the same
words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.kube.paths import Path
from holdfast.manifest.stack.controllers import CONTROLLERS, ControllerName
from holdfast.manifest.stack.environment import Environment, ImageName

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec


@dataclass(frozen=True, slots=True)
class UnmetNeed:
    """A field of an agent that has no effect on this stack.

    Attributes:
        path: The field, below `spec`.
        expected: What the stack would have to offer.
        remedy: Where to declare it.
    """

    path: Path
    expected: str
    remedy: str


def unmet_needs(spec: "AgentSpec", environment: Environment) -> Iterator[UnmetNeed]:
    """Everything that a spec needs and the environment does not declare."""
    for controller, path in _controllers(spec):
        if controller not in environment.controllers:
            needed = CONTROLLERS[controller]
            yield UnmetNeed(
                path,
                f"needs {needed.title} ({needed.provides}), which this stack does not declare",
                f"install {needed.title} and add {controller} to holdfast:controllers in the "
                "stack file, or remove the field",
            )
    for image, path in _images(spec):
        if image_of(environment, image) is None:
            yield UnmetNeed(
                path,
                "needs an image that this stack does not name",
                f"set holdfast:images.{image} in the stack file, or remove the field",
            )
    if spec.availability.failover == "automatic" and environment.agent_resources.mode == "off":
        yield UnmetNeed(
            ("availability", "failover"),
            "needs the operator, which this stack does not use",
            "set holdfast:agentResources: {mode: observe} in the stack file, or fail over by hand",
        )
    yield from _unmet_stores(spec, environment)
    yield from _unmet_telemetry(spec, environment)


def image_of(environment: Environment, name: ImageName) -> str | None:
    """One of the stack's images; None where it names none."""
    images = environment.images
    return {
        "tools": images.tools,
        "runtime": images.runtime,
        "logShipper": images.log_shipper,
        "telemetryCollector": images.telemetry_collector,
    }[name]


def _controllers(spec: "AgentSpec") -> Iterator[tuple[ControllerName, Path]]:
    if spec.type == "Sandbox":
        yield "agent-sandbox", ("type",)
    if spec.network.expose.gateway_ref is not None:
        yield "gateway-api", ("network", "expose", "gatewayRef")
    if spec.backup is not None and spec.backup.method == "VolumeSnapshot":
        yield "volume-snapshots", ("backup",)
    if spec.restored and (spec.backup is None or spec.backup.method != "Job"):
        yield "volume-snapshots", ("restoreFrom",)
    yield from _controllers_of_secrets(spec)
    if spec.rollout.is_progressive:
        yield "argo-rollouts", ("rollout", "strategy")
    if spec.scaling.idle_seconds is not None:
        yield "keda", ("scaling", "idleSeconds")
    if spec.scaling.schedules:
        yield "keda", ("scaling", "schedules")
    for index, _ in enumerate(spec.triggers):
        yield "keda", ("triggers", index)
    if spec.queue_name is not None:
        yield "kueue", ("queueName",)
    if spec.telemetry.traces.inject == "operator":
        yield "opentelemetry-operator", ("telemetry", "traces", "inject")
    yield from _controllers_of_metrics(spec)


def _controllers_of_metrics(spec: "AgentSpec") -> Iterator[tuple[ControllerName, Path]]:
    metrics = spec.telemetry.metrics
    if metrics.service_monitor == "required":
        yield "prometheus-operator", ("telemetry", "metrics", "serviceMonitor")
    if metrics.alerts:
        yield "prometheus-operator", ("telemetry", "metrics", "alerts")
    if spec.telemetry.slo is not None:
        yield "prometheus-operator", ("telemetry", "slo")


def _controllers_of_secrets(spec: "AgentSpec") -> Iterator[tuple[ControllerName, Path]]:
    for index, secret in enumerate(spec.secrets):
        if secret.provider == "externalSecret":
            yield "external-secrets", ("secrets", index)
        elif secret.provider == "vault":
            yield "vault-injector", ("secrets", index)


def _images(spec: "AgentSpec") -> Iterator[tuple[ImageName, Path]]:
    if spec.runtime == "managed":
        yield "runtime", ("runtime",)
    if spec.depends_on and spec.wait_for_dependencies:
        yield "tools", ("dependsOn",)
    for index, skill in enumerate(spec.skills):
        if not skill.oci:
            yield "tools", ("skills", index)
    for index, step in enumerate(spec.lifecycle.pre_start):
        if step.fetch is not None:
            yield "tools", ("lifecycle", "preStart", index, "fetch")
    check = spec.rollout.preflight
    if check is not None and (check.llm or check.tools):
        yield "tools", ("rollout", "preflight")
    if spec.lifecycle.cache_warmer is not None:
        yield "tools", ("lifecycle", "cacheWarmer")
    if spec.telemetry.logs.shipper == "sidecar":
        yield "logShipper", ("telemetry", "logs", "shipper")
    if spec.telemetry.traces.inject == "sidecar":
        yield "telemetryCollector", ("telemetry", "traces", "inject")


def _unmet_stores(spec: "AgentSpec", environment: Environment) -> Iterator[UnmetNeed]:
    stores = {"s3": environment.object_stores.s3, "gs": environment.object_stores.gs}
    for index, step in enumerate(spec.lifecycle.pre_start):
        scheme = step.fetch.scheme if step.fetch else ""
        if scheme in stores and stores[scheme] is None:
            yield UnmetNeed(
                ("lifecycle", "preStart", index, "fetch", "uri"),
                f"needs a store for {scheme}://, which this stack does not declare",
                f"set holdfast:objectStores.{scheme} in the stack file, or fetch by https",
            )


def _unmet_telemetry(spec: "AgentSpec", environment: Environment) -> Iterator[UnmetNeed]:
    telemetry = environment.telemetry
    if telemetry.prometheus_url is None:
        expected = "needs a source of metrics, which this stack does not declare"
        remedy = "set holdfast:telemetry.prometheusUrl in the stack file, or remove the field"
        if spec.rollout.analysis is not None:
            yield UnmetNeed(("rollout", "analysis"), expected, remedy)
        for index, metric in enumerate(spec.scaling.metrics if spec.scaling.needs_keda else ()):
            if metric.type != "Resource":
                yield UnmetNeed(("scaling", "metrics", index), expected, remedy)
        for index, _ in enumerate(spec.triggers):
            yield UnmetNeed(("triggers", index, "metric"), expected, remedy)
    if spec.telemetry.traces.endpoint or telemetry.otlp_endpoint:
        return
    expected = "needs an OTLP endpoint to send to"
    remedy = "set telemetry.traces.endpoint, or holdfast:telemetry.otlpEndpoint in the stack file"
    if spec.telemetry.logs.shipper == "sidecar":
        yield UnmetNeed(("telemetry", "logs", "shipper"), expected, remedy)
    if spec.telemetry.traces.inject != "env":
        yield UnmetNeed(("telemetry", "traces", "inject"), expected, remedy)
