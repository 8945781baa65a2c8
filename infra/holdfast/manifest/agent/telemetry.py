"""What an agent tells about itself: metrics, logs, traces."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.agent.slo import Alert, ServiceObjectives
from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.references import Reaches
from holdfast.manifest.types.values import AbsolutePath, Duration, Items, ManifestModel, Port, Url


class Metrics(ManifestModel):
    """Prometheus metrics."""

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
    alerts: Items[Alert] = ()
    """Alerts of the agent's own; need the Prometheus Operator."""

    @model_validator(mode="after")
    def _serves_what_is_watched(self) -> Self:
        if not self.enabled and self.alerts:
            raise fault("has no effect without metrics", remedy="remove it", at=("alerts",))
        names = [alert.name for alert in self.alerts]
        for index, name in enumerate(names):
            if name in names[:index]:
                expected = "names of alerts must be unique"
                raise fault(expected, found=f"{name!r} twice", at=("alerts", index, "name"))
        return self


class Logs(ManifestModel):
    """Log lines."""

    format: Literal["json", "text"] = "json"
    """Shape of a line; default json. Env LOG_FORMAT."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe line written; default info. Env LOG_LEVEL."""
    shipper: Literal["none", "sidecar"] = "none"
    """sidecar: a container sends the files in LOG_FOLDER to the OTLP endpoint; default none."""


class Traces(ManifestModel):
    """OpenTelemetry traces."""

    endpoint: Annotated[Url, Reaches()] | None = None
    """OTLP endpoint; default the stack's. Its host joins the agent's egress."""
    protocol: Literal["grpc", "http/protobuf"] = "grpc"
    """OTLP protocol; default grpc."""
    sampling: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Share of traces kept, 0–1; default 0.1."""
    inject: Literal["env", "sidecar", "operator"] = "env"
    """Who sends traces on: the agent by its variables, a collector beside it, or what the
    OpenTelemetry Operator injects; default env."""
    language: Literal["sdk", "python", "nodejs", "java", "dotnet", "go"] = "sdk"
    """What the operator instruments, with inject: operator; default sdk (variables only)."""

    @model_validator(mode="after")
    def _language_has_effect(self) -> Self:
        if self.language != "sdk" and self.inject != "operator":
            remedy = "remove it, or use inject: operator"
            raise fault(
                "language has no effect without the operator", remedy=remedy, at=("language",)
            )
        return self


class Telemetry(ManifestModel):
    """Metrics, logs and traces."""

    metrics: Metrics = Metrics.model_construct(enabled=False)
    """Prometheus metrics; default none."""
    logs: Logs = Logs.model_construct()
    """Log lines."""
    traces: Traces = Traces.model_construct()
    """OpenTelemetry traces."""
    slo: ServiceObjectives | None = None
    """What the agent promises; alerts on burning error budgets are made of it. Default nothing."""

    @model_validator(mode="after")
    def _promises_are_measured(self) -> Self:
        if self.slo is not None and not self.metrics.enabled:
            remedy = "say where metrics are served, such as metrics: {port: 9090}"
            raise fault("has no effect without metrics", remedy=remedy, at=("slo",))
        return self
