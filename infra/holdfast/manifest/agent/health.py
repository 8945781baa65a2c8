"""The questions that the kubelet asks an agent, in the words of Kubernetes."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import branch, chosen_by, fault
from holdfast.manifest.types.values import Items, ManifestModel, Port, PortName, Text


def _port_shape(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    # Callers in other languages send whole numbers as floats.
    is_number = isinstance(value, int | float)
    return "number" if is_number else "name" if isinstance(value, str) else None


PortOrName = Annotated[
    Annotated[Port, branch("number")] | Annotated[PortName, branch("name")],
    chosen_by(_port_shape, "expected the number or the name of a port"),
]
"""A port by number, or by name: http, metrics, or one of spec.ports."""


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
    port: PortOrName | None = None
    """Port by number or name; default the exposed port."""
    scheme: Literal["HTTP", "HTTPS"] = "HTTP"
    """HTTP or HTTPS (the certificate is not checked); default HTTP."""
    http_headers: Items[HttpHeader] = ()
    """Headers of the request."""


class TcpSocket(ManifestModel):
    """A connection to the agent."""

    port: PortOrName | None = None
    """Port by number or name; default the exposed port."""


class Exec(ManifestModel):
    """A command in the agent's container."""

    command: Annotated[Items[Text], Field(min_length=1)]
    """The command; it is not run by a shell."""


class Grpc(ManifestModel):
    """A call of gRPC's own health service."""

    port: Port | None = None
    """Port; default the exposed port."""
    service: Text | None = None
    """Name of the service that is asked for; default the whole server."""


class Probe(ManifestModel):
    """A question that the kubelet asks; exactly one of httpGet, exec, tcpSocket and grpc."""

    enabled: bool = True
    """false: the question is never asked, whatever else is written; default true."""
    http_get: HttpGet | None = None
    """Ask by HTTP; 2xx and 3xx are good answers."""
    exec_: Exec | None = Field(default=None, alias="exec")
    """Ask by a command in the container; 0 is a good answer."""
    tcp_socket: TcpSocket | None = None
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
        asked = (self.http_get, self.exec_, self.tcp_socket, self.grpc)
        given = sum(way is not None for way in asked)
        if given > 1 or (self.enabled and not given):
            raise fault("expected exactly one of httpGet, exec, tcpSocket and grpc")
        return self

    @property
    def longest_seconds(self) -> int:
        """Seconds until it has failed for good, counted from the container's start."""
        if not self.enabled:
            return 0
        return self.initial_delay_seconds + self.period_seconds * self.failure_threshold

    @property
    def named_port(self) -> tuple[str, str] | None:
        """Field and name of a port that is asked by name; None for a number."""
        for field, action in (("httpGet", self.http_get), ("tcpSocket", self.tcp_socket)):
            if action is not None and isinstance(action.port, str):
                return field, action.port
        return None


LISTENS = Probe.model_construct(tcp_socket=TcpSocket.model_construct())
"""Asks whether the exposed port takes connections."""
SHOWS_ITS_CARD = Probe.model_construct(
    http_get=HttpGet.model_construct(path="/.well-known/agent-card.json")
)
"""Asks for the A2A agent card."""


class Probes(ManifestModel):
    """Start-up, liveness and readiness."""

    startup: Probe | None = None
    """Holds the other two back until it succeeds, and stretches the default of
    rollout.progressDeadlineSeconds; default none."""
    liveness: Probe | None = None
    """Restarts the container; default a connection to the exposed port. {enabled: false}: never
    asked."""
    readiness: Probe | None = None
    """Takes the pod out of the Service; default a connection to the exposed port, GET
    /.well-known/agent-card.json where a2a is written. {enabled: false}: never asked."""

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
