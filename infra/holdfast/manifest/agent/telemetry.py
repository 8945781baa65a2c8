"""What an agent tells about itself: metrics, logs, traces."""

from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.agent.agent_types import CALLED, OnlyFor
from holdfast.manifest.agent.slo import Alert, ServiceObjectives
from holdfast.manifest.types.conditions import Given, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.references import Reaches
from holdfast.manifest.types.rules import Rule, Ruled, Unique
from holdfast.manifest.types.values import AbsolutePath, Duration, Port, Url


class Metrics(Ruled):
    """Prometheus metrics."""

    RULES = (
        Rule(
            "alerts-need-metrics",
            Given("alerts").needs(is_("enabled", True)),
            "has no effect without metrics",
            remedy="remove it",
            at="alerts",
        ),
    )

    enabled: bool = True
    """Whether the agent serves metrics; default true where metrics is written, else false."""
    port: Port = 9090
    """Port they are served on; default 9090."""
    path: AbsolutePath = "/metrics"
    """Path they are served at; default /metrics."""
    interval: Duration = "30s"
    """How often they are scraped; default 30s."""
    service_monitor: Literal["auto", "required", "off"] = "auto"
    """Render a ServiceMonitor (a PodMonitor for pools). auto: where the stack declares the
    Prometheus Operator; required: refuse a stack that does not; default auto."""
    alerts: Annotated[Items[Alert], Unique()] = ()
    """Alerts of the agent's own; need the Prometheus Operator."""


class Logs(ManifestModel):
    """Log lines."""

    format: Literal["json", "text"] = "json"
    """Shape of a line; default json. Env LOG_FORMAT."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe line written; default info. Env LOG_LEVEL."""
    shipper: Literal["none", "sidecar"] = "none"
    """sidecar: a container sends the files in LOG_FOLDER to the OTLP endpoint; default none."""


class Traces(Ruled):
    """OpenTelemetry traces."""

    RULES = (
        Rule(
            "language-needs-operator",
            is_("language", "sdk") | is_("inject", "operator"),
            "language has no effect without the operator",
            remedy="remove it, or use inject: operator",
            at="language",
        ),
    )

    endpoint: Annotated[Url, Reaches()] | None = None
    """OTLP endpoint; default the stack's. Its host joins the agent's egress."""
    protocol: Literal["grpc", "http/protobuf"] = "grpc"
    """OTLP protocol; default grpc."""
    sampling: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Share of traces kept, 0–1; default 0.1."""
    inject: Literal["env", "sidecar", "operator"] = "env"
    """Who sends traces on: the agent by its variables, a sidecar collector, or what the
    OpenTelemetry Operator injects; default env."""
    language: Literal["sdk", "python", "nodejs", "java", "dotnet", "go"] = "sdk"
    """What the operator instruments, with inject: operator; default sdk (variables only)."""


class Telemetry(Ruled):
    """Metrics, logs and traces."""

    RULES = (
        Rule(
            "slo-needs-metrics",
            Given("slo").needs(is_("metrics.enabled", True)),
            "has no effect without metrics",
            remedy="say where metrics are served, such as metrics: {port: 9090}",
            at="slo",
        ),
    )

    metrics: Annotated[Metrics, OnlyFor(CALLED)] = Metrics.model_construct(enabled=False)
    """Prometheus metrics; default none."""
    logs: Logs = Logs.model_construct()
    """Log lines."""
    traces: Traces = Traces.model_construct()
    """OpenTelemetry traces."""
    slo: Annotated[ServiceObjectives | None, OnlyFor(CALLED)] = None
    """What the agent promises; alerts on burning error budgets are made of it. Default nothing."""
