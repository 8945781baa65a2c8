"""What an agent tells about itself: metrics, logs, traces."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.faults import fault
from holdfast.manifest.values import AbsolutePath, ManifestModel, Port, Url


class Metrics(ManifestModel):
    """Prometheus metrics."""

    enabled: bool = True
    """Whether the agent serves metrics; default true."""
    port: Port = 9090
    """Port they are served on; default 9090."""
    path: AbsolutePath = "/metrics"
    """Path they are served at; default /metrics."""


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

    endpoint: Url | None = None
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

    metrics: Metrics = Metrics()
    """Prometheus metrics."""
    logs: Logs = Logs()
    """Log lines."""
    traces: Traces = Traces()
    """OpenTelemetry traces."""
