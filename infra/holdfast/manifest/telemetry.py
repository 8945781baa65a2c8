"""What an agent tells about itself: metrics, logs, traces."""

from typing import Annotated, Literal

from pydantic import Field

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


class Traces(ManifestModel):
    """OpenTelemetry traces."""

    endpoint: Url | None = None
    """OTLP endpoint; default the stack's. Its host joins the agent's egress."""
    protocol: Literal["grpc", "http/protobuf"] = "grpc"
    """OTLP protocol; default grpc."""
    sampling: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Share of traces kept, 0–1; default 0.1."""


class Telemetry(ManifestModel):
    """Metrics, logs and traces."""

    metrics: Metrics = Metrics()
    """Prometheus metrics."""
    logs: Logs = Logs()
    """Log lines."""
    traces: Traces = Traces()
    """OpenTelemetry traces."""
