"""The questions that the kubelet asks an agent, in the words of Kubernetes."""

from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.text.faults import branch, chosen_by
from holdfast.manifest.types.conditions import Given, any_given, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import PortName
from holdfast.manifest.types.rules import OneOf, Rule, Ruled
from holdfast.manifest.types.values import Port, Text


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


class Probe(Ruled):
    """A question that the kubelet asks; exactly one of httpGet, exec, tcpSocket and grpc."""

    RULES = (
        OneOf(("http_get", "exec_", "tcp_socket", "grpc"), may_be_none=True),
        Rule(
            "probe-asks",
            is_("enabled", False) | any_given("http_get", "exec_", "tcp_socket", "grpc"),
            "expected exactly one of httpGet, exec, tcpSocket and grpc",
            remedy="keep one of them",
        ),
    )

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


DEFAULT_STARTUP_SECONDS = 300
LISTENS = Probe.model_construct(tcp_socket=TcpSocket.model_construct())
"""Asks whether the exposed port takes connections."""
SHOWS_ITS_CARD = Probe.model_construct(
    http_get=HttpGet.model_construct(path="/.well-known/agent-card.json")
)
"""Asks for the A2A agent card."""


class Probes(Ruled):
    """Start-up, liveness and readiness."""

    RULES = (
        *(
            Rule(
                f"success-of-{name}",
                Given(name).needs(is_(f"{name}.success_threshold", 1)),
                f"successThreshold of {name} must be 1",
                shown=(f"{name}.success_threshold",),
                at=f"{name}.success_threshold",
                remedy="write 1, or remove it",
            )
            for name in ("startup", "liveness")
        ),
        Rule(
            "readiness-restarts-nothing",
            ~Given("readiness.termination_grace_period_seconds"),
            "terminationGracePeriodSeconds has no effect on readiness, which restarts nothing",
            remedy="remove it",
            at="readiness.termination_grace_period_seconds",
        ),
    )

    startup: Probe | None = None
    """Holds the other two back until it succeeds, and stretches the default of
    rollout.progressDeadlineSeconds; default what liveness asks, every second, for five minutes.
    {enabled: false}: never asked."""
    liveness: Probe | None = None
    """Restarts the container; default a connection to the exposed port. {enabled: false}: never
    asked."""
    readiness: Probe | None = None
    """Takes the pod out of the Service; default a connection to the exposed port, GET
    /.well-known/agent-card.json where a2a is written. {enabled: false}: never asked."""

    @property
    def effective_startup(self) -> Probe | None:
        """The declared one; else what liveness asks, often: an agent is ready when it is up.

        None where nothing is asked. It waits at least as long as liveness alone would have.
        """
        asked = self.liveness or LISTENS
        if self.startup is not None or not asked.enabled:
            return self.startup
        longest = max(DEFAULT_STARTUP_SECONDS, asked.longest_seconds)
        often = {"period_seconds": 1, "initial_delay_seconds": 0, "failure_threshold": longest}
        return asked.model_copy(update=often)
