"""The questions that the kubelet asks an agent."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.values import Items, ManifestModel, Port, Text


class HttpHeader(ManifestModel):
    """A header of a probe's request."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
    """Name of the header."""
    value: str
    """Its value; never a credential."""


class HttpGet(ManifestModel):
    """An HTTP request to the agent."""

    path: Text = "/"
    """Path of the request."""
    port: Port | None = None
    """Port; default the exposed port."""
    scheme: Literal["HTTP", "HTTPS"] = "HTTP"
    """HTTP or HTTPS (the certificate is not checked); default HTTP."""
    http_headers: Items[HttpHeader] = ()
    """Headers of the request."""


class Grpc(ManifestModel):
    """A call of gRPC's own health service."""

    port: Port | None = None
    """Port; default the exposed port."""
    service: Text | None = None
    """Name of the service that is asked for; default the whole server."""


class Probe(ManifestModel):
    """A question that the kubelet asks; exactly one of httpGet, command, tcpPort and grpc."""

    http_get: HttpGet | None = None
    """Ask by HTTP; 2xx and 3xx are good answers."""
    command: Items[Text] = ()
    """Ask by a command in the container; 0 is a good answer."""
    tcp_port: Port | None = None
    """Ask by opening a connection."""
    grpc: Grpc | None = None
    """Ask gRPC's health service."""
    initial_delay_seconds: Annotated[int, Field(ge=0, le=3600)] = 0
    """Seconds before the first question; default 0."""
    period_seconds: Annotated[int, Field(ge=1, le=3600)] = 10
    """Seconds between questions; default 10."""
    timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 3
    """Seconds to wait for an answer; default 3."""
    success_threshold: Annotated[int, Field(ge=1, le=1000)] = 1
    """Good answers in a row until it counts as good; default 1, and 1 unless for readiness."""
    failure_threshold: Annotated[int, Field(ge=1, le=1000)] = 3
    """Bad answers in a row until action is taken; default 3."""
    termination_grace_period_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Seconds to end in when this probe restarts the container; default the agent's own."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = (
            self.http_get is not None,
            bool(self.command),
            self.tcp_port is not None,
            self.grpc is not None,
        )
        if sum(given) != 1:
            raise fault("expected exactly one of httpGet, command, tcpPort and grpc")
        return self

    @property
    def longest_seconds(self) -> int:
        """Seconds until it has failed for good, counted from the container's start."""
        return self.initial_delay_seconds + self.period_seconds * self.failure_threshold


class Probes(ManifestModel):
    """Start-up, liveness and readiness."""

    startup: Probe | None = None
    """Holds the other two back until it succeeds, and stretches the default of
    rollout.progressDeadlineSeconds; default none."""
    liveness: Probe | None = Probe.model_construct(
        http_get=HttpGet.model_construct(path="/healthz")
    )
    """Restarts the container; default GET /healthz. null: it is never asked."""
    readiness: Probe | None = Probe.model_construct(
        http_get=HttpGet.model_construct(path="/.well-known/agent-card.json")
    )
    """Takes the pod out of the Service; default GET /.well-known/agent-card.json. null: none."""

    @model_validator(mode="after")
    def _as_kubernetes_has_it(self) -> Self:
        for name, probe in (("startup", self.startup), ("liveness", self.liveness)):
            if probe and probe.success_threshold != 1:
                raise fault(
                    f"successThreshold of {name} must be 1",
                    found=str(probe.success_threshold),
                    at=(name, "successThreshold"),
                )
        if self.readiness and self.readiness.termination_grace_period_seconds is not None:
            raise fault(
                "terminationGracePeriodSeconds has no effect on readiness, which restarts nothing",
                remedy="remove it",
                at=("readiness", "terminationGracePeriodSeconds"),
            )
        return self
