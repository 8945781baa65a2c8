"""What an agent needs its stack to offer: controllers, images, a store, a source of metrics.

Said once: `holdfast validate` names the line, and rendering refuses a program's agent in the same
words.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from holdfast.kube.paths import Path
from holdfast.manifest.agent.dependency import as_dependency
from holdfast.manifest.stack.controllers import CONTROLLERS, ControllerName
from holdfast.manifest.stack.environment import Environment, ImageName
from holdfast.manifest.types.text_faults import STORE_SCHEMES

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec


@dataclass(frozen=True, slots=True)
class MissingCapability:
    """A field of an agent that has no effect on this stack.

    Attributes:
        path: The field, below `spec`.
        expected: What the stack would have to offer.
        remedy: Where to declare it.
    """

    path: Path
    expected: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the stack that fields need.

    Attributes:
        words: What is missing without it.
        remedy: What else than setting it helps.
    """

    words: str
    remedy: str = "remove the field"


_STORE: Final = Setting("comes from a store that this stack does not name", "")
_FETCHED: Final = "needs a store for {}://, which this stack does not declare"
_SNAPSHOTS: Final = "takes snapshots, for which this stack does not say {}"
SETTINGS: Final[Mapping[str, Setting]] = {
    "images.tools": (_IMAGE := Setting("needs an image that this stack does not name")),
    "images.runtime": _IMAGE,
    "images.logShipper": _IMAGE,
    "images.telemetryCollector": _IMAGE,
    "secretStores.externalSecret": _STORE,
    "secretStores.vault": _STORE,
    "secretStores.aws": _STORE,
    "objectStores.s3": Setting(_FETCHED.format("s3"), "fetch by https"),
    "objectStores.gs": Setting(_FETCHED.format("gs"), "fetch by https"),
    "backups.image": Setting(_SNAPSHOTS.format("image"), "use backup.method: Job"),
    "telemetry.prometheusUrl": Setting(
        "needs a source of metrics, which this stack does not declare"
    ),
}
"""Settings of the stack that fields of agents need, by their place below `holdfast:`."""


def missing_capabilities(
    spec: "AgentSpec", environment: Environment
) -> Iterator[MissingCapability]:
    """Everything that a spec needs and the environment does not declare."""
    for controller, path in _controllers(spec):
        if controller not in environment.controllers:
            needed = CONTROLLERS[controller]
            yield MissingCapability(
                path,
                f"needs {needed.title} ({needed.provides}), which this stack does not declare",
                f"install {needed.title} and add {controller} to holdfast:controllers in the "
                "stack file, or remove the field",
            )
    yield from _missing_for_aws(spec, environment)
    for name, path in (*_images(spec), *_settings(spec)):
        if not _setting_of(environment, name):
            setting = SETTINGS[name]
            otherwise = f", or {setting.remedy}" if setting.remedy else ""
            remedy = f"set holdfast:{name} in the stack file{otherwise}"
            yield MissingCapability(path, setting.words, remedy)
    if (
        spec.scaling.availability.failover == "automatic"
        and environment.agent_resources.mode == "off"
    ):
        yield MissingCapability(
            ("scaling", "availability", "failover"),
            "needs the operator, which this stack does not use",
            "set holdfast:agentResources: {mode: observe} in the stack file, or fail over manually",
        )
    yield from _missing_endpoint(spec, environment)
    yield from _missing_api_server(spec, environment)
    yield from _missing_scraper(spec, environment)


def _setting_of(environment: Environment, name: str) -> object:
    """What stands at a place below `holdfast:`; nothing where it is not set."""
    value: Any = environment
    for part in name.split("."):
        model: type[BaseModel] = type(value)
        value = getattr(value, _field_named(model, part))
        if value is None:
            return None
    return value


@cache
def _field_named(model: type[BaseModel], name: str) -> str:
    """The attribute of a model for a name in files."""
    fields = model.model_fields.items()
    [field] = [each for each, info in fields if (info.alias or to_camel(each)) == name]
    return field


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
    if spec.storage.backup is not None and spec.storage.backup.method == "VolumeSnapshot":
        yield "volume-snapshots", ("storage", "backup")
    if spec.storage.restored and (
        spec.storage.backup is None or spec.storage.backup.method != "Job"
    ):
        yield "volume-snapshots", ("storage", "restoreFrom")
    yield from _controllers_of_secrets(spec)
    if spec.rollout.is_progressive:
        yield "argo-rollouts", ("rollout", "strategy")
    if spec.scaling.idle_seconds is not None:
        yield "keda", ("scaling", "idleSeconds")
    if spec.scaling.schedules:
        yield "keda", ("scaling", "schedules")
    for index, _ in enumerate(spec.job.triggers):
        yield "keda", ("job", "triggers", index)
    if spec.pod.queue_name is not None:
        yield "kueue", ("pod", "queueName")
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


def _images(spec: "AgentSpec") -> Iterator[tuple[str, Path]]:
    if spec.runtime == "managed":
        yield "images.runtime", ("runtime",)
    if any(as_dependency(each).wait for each in spec.depends_on):
        yield "images.tools", ("dependsOn",)
    for index, skill in enumerate(spec.skills):
        if not skill.oci:
            yield "images.tools", ("skills", index)
    for index, step in enumerate(spec.container.lifecycle.pre_start):
        if step.fetch is not None:
            yield "images.tools", ("container", "lifecycle", "preStart", index, "fetch")
    check = spec.rollout.preflight
    if check is not None and (check.llm or check.tools):
        yield "images.tools", ("rollout", "preflight")
    if spec.pod.cache_warmer is not None:
        yield "images.tools", ("pod", "cacheWarmer")
    if spec.telemetry.logs.shipper == "sidecar":
        yield "images.logShipper", ("telemetry", "logs", "shipper")
    if spec.telemetry.traces.inject == "sidecar":
        yield "images.telemetryCollector", ("telemetry", "traces", "inject")


def _settings(spec: "AgentSpec") -> Iterator[tuple[str, Path]]:
    stores = {"externalSecret": "externalSecret", "vault": "vault", "awsSecretsManager": "aws"}
    for index, secret in enumerate(spec.secrets):
        if secret.provider in stores:
            yield f"secretStores.{stores[secret.provider]}", ("secrets", index)
    for index, step in enumerate(spec.container.lifecycle.pre_start):
        if step.fetch is not None and step.fetch.scheme in STORE_SCHEMES:
            path = ("container", "lifecycle", "preStart", index, "fetch", "uri")
            yield f"objectStores.{step.fetch.scheme}", path
    if spec.storage.backup is not None and spec.storage.backup.method == "VolumeSnapshot":
        yield "backups.image", ("storage", "backup")
    if spec.rollout.analysis is not None:
        yield "telemetry.prometheusUrl", ("rollout", "analysis")
    for index, metric in enumerate(spec.scaling.metrics if spec.scaling.needs_keda else ()):
        if not metric.is_by_use:
            yield "telemetry.prometheusUrl", ("scaling", "metrics", index)
    for index, _ in enumerate(spec.job.triggers):
        yield "telemetry.prometheusUrl", ("job", "triggers", index, "metric")


def _missing_for_aws(spec: "AgentSpec", environment: Environment) -> Iterator[MissingCapability]:
    """Either of two controllers fetches from AWS; one of them restarts nothing."""
    for index, secret in enumerate(spec.secrets):
        if secret.provider != "awsSecretsManager":
            continue
        if "external-secrets" in environment.controllers:
            continue
        if "secrets-store-csi" not in environment.controllers:
            yield MissingCapability(
                ("secrets", index),
                "needs External Secrets Operator or Secrets Store CSI Driver, and this stack "
                "declares neither",
                "install one of them and add external-secrets or secrets-store-csi to "
                "holdfast:controllers in the stack file",
            )
        elif secret.on_change == "restart":
            yield MissingCapability(
                ("secrets", index, "onChange"),
                "needs External Secrets Operator: the CSI driver rotates files, it restarts "
                "nothing",
                "use onChange: reload, or declare external-secrets",
            )


def _missing_scraper(spec: "AgentSpec", environment: Environment) -> Iterator[MissingCapability]:
    """The agent's own network rules keep out who scrapes it, unless the stack says who that is."""
    metrics = spec.telemetry.metrics
    is_scraped = "prometheus-operator" in environment.controllers and metrics.enabled
    if is_scraped and metrics.service_monitor != "off" and environment.network.monitoring is None:
        yield MissingCapability(
            ("telemetry", "metrics"),
            "are scraped by pods that this stack does not name, and network rules keep them out",
            "set holdfast:network.monitoring in the stack file, or serviceMonitor: off",
        )


def _missing_api_server(spec: "AgentSpec", environment: Environment) -> Iterator[MissingCapability]:
    """Network rules are judged behind the address of the Service kubernetes; Cilium knows it."""
    if environment.network.api_server.cidrs or environment.opens_domains == "cilium":
        return
    if spec.network.asks_api_server:
        index = [bool(each.api_server) for each in spec.network.egress].index(True)
        yield _asks_api_server(("network", "egress", index, "apiServer"))
    elif spec.scaling.leader_election and not spec.network.cidrs:
        yield _asks_api_server(("scaling", "leaderElection"))
    if spec.storage.backup is not None and spec.storage.backup.method == "VolumeSnapshot":
        yield _asks_api_server(("storage", "backup"))


def _asks_api_server(path: Path) -> MissingCapability:
    return MissingCapability(
        path,
        "asks the API server, whose addresses this stack does not say",
        "set holdfast:network.apiServer.cidrs in the stack file (kubectl get endpointslices "
        "kubernetes), or remove the field",
    )


def _missing_endpoint(spec: "AgentSpec", environment: Environment) -> Iterator[MissingCapability]:
    """The agent or its stack names the OTLP endpoint."""
    if spec.telemetry.traces.endpoint or environment.telemetry.otlp_endpoint:
        return
    expected = "needs an OTLP endpoint to send to"
    remedy = "set telemetry.traces.endpoint, or holdfast:telemetry.otlpEndpoint in the stack file"
    if spec.telemetry.logs.shipper == "sidecar":
        yield MissingCapability(("telemetry", "logs", "shipper"), expected, remedy)
    if spec.telemetry.traces.inject != "env":
        yield MissingCapability(("telemetry", "traces", "inject"), expected, remedy)
