"""A tool server: one that the stack runs, or the address of one that runs elsewhere."""

from collections.abc import Mapping
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from holdfast.kube.paths import Path
from holdfast.manifest.agent.a2a import AgentCardSpec
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.agent_checks import faults_of_spec
from holdfast.manifest.agent.exposure import Network, Security
from holdfast.manifest.agent.governance import Governance
from holdfast.manifest.agent.health import HttpGet, Probe, Probes
from holdfast.manifest.agent.runtime import EnvVar, Resources
from holdfast.manifest.agent.scaling import Scaling
from holdfast.manifest.agent.state import SecretReference
from holdfast.manifest.agent.telemetry import Metrics, Telemetry
from holdfast.manifest.agent.tools import Transport
from holdfast.manifest.text.faults import fault, together
from holdfast.manifest.types.choices import Choosing, OneOf
from holdfast.manifest.types.values import (
    AbsolutePath,
    ImageReference,
    Items,
    LabelName,
    LabelValue,
    Port,
    Semver,
    Sha256,
    Text,
    ToolName,
    Url,
)

PATHS: Final = {"streamable-http": "/mcp", "sse": "/sse"}
"""Where a server answers by default, as the official SDKs have it."""

OWN_PATHS: Final[Mapping[Path, Path]] = {
    ("scaling", "replicas"): ("replicas",),
    ("network", "expose", "port"): ("port",),
}
"""Field of an agent to the field of a tool server that stands for it, where they are not alike."""


class HostedServer(Choosing):
    """A tool server as a stack runs it: like an agent without model, closed but to its callers."""

    image: ImageReference | None = None
    """Image of a server that the stack runs; excludes url."""
    transport: Transport = "streamable-http"
    """How it is spoken to; default streamable-http."""
    port: Port = 8080
    """Port that it listens on; default 8080."""
    path: AbsolutePath | None = None
    """Path that it answers at; default /mcp, and /sse for transport sse."""
    health_path: AbsolutePath | None = None
    """Path that answers GET well while it can take calls; default: it can as soon as it listens."""
    version: Semver = "0.0.0"
    """The server's own version (semantic)."""
    owner: LabelValue | None = None
    """Team that answers for it; required on stacks with the prod profile."""
    governance: Governance = Governance.model_construct()
    """Decisions that the policy pack asks for; rendered to holdfast.dev/* on its objects."""
    command: Items[Text] = ()
    """Entry point; default the image's."""
    args: Items[str] = ()
    """Arguments; default the image's."""
    env: Items[EnvVar] = ()
    """Environment variables, by name."""
    secrets: Items[SecretReference] = ()
    """Secrets by reference."""
    resources: Resources = Resources.model_construct()
    """Requests and limits."""
    replicas: Annotated[int, Field(ge=0, le=1000)] = 1
    """How many run; default 1."""
    network: Network = Network.model_construct()
    """What it may reach, and who may call it beside the agents that name it, which always may."""
    security: Security = Security.model_construct()
    """What it may do."""

    def address(self, namespace: str, name: str) -> str:
        """Where it is asked, inside the cluster."""
        return f"http://{name}.{namespace}.svc:{self.port}{self.effective_path}"

    @property
    def effective_path(self) -> str:
        """Path that it answers at, as declared or by default."""
        return self.path or PATHS[self.transport]

    def as_agent(self) -> AgentSpec:
        """The same in the words of an agent: what is rendered is what an agent's parts are.

        It has no card and promises no metrics, and is ready when it listens.
        """
        answers = Probe(http_get=HttpGet(path=self.health_path)) if self.health_path else None
        return AgentSpec.model_construct(
            version=self.version,
            owner=self.owner,
            governance=self.governance,
            image=self.image,
            command=self.command,
            args=self.args,
            env=self.env,
            secrets=self.secrets,
            resources=self.resources,
            scaling=Scaling(replicas=self.replicas),
            network=self.network.model_copy(
                update={"expose": self.network.expose.model_copy(update={"port": self.port})}
            ),
            security=self.security,
            probes=Probes(readiness=answers),
            telemetry=Telemetry(metrics=Metrics(enabled=False)),
            a2a=AgentCardSpec(enabled=False),
        )

    @model_validator(mode="after")
    def _can_be_spoken_to(self) -> Self:
        if "port" in self.network.expose.model_fields_set:
            raise fault(
                "the port of a tool server stands in spec.port",
                remedy="move it there",
                at=("network", "expose", "port"),
            )
        if self.image is not None and (faults := list(faults_of_spec(self.as_agent()))):
            raise together(type(self).__name__, faults)
        return self


class McpServerSpec(HostedServer):
    """A tool server that several agents share through tools[].mcp.serverRef."""

    CHOICES = (OneOf(("image", "url")),)

    url: Url | None = None
    """Address of a server that runs elsewhere; excludes image."""
    tool_names: Items[ToolName] = ()
    """The tools it offers; an agent's toolNames must be among them when given."""
    digest: Sha256 | None = None
    """Digest over the reviewed names, descriptions and input schemas."""
    allowed_namespaces: Items[LabelName] = ()
    """Other namespaces whose agents may refer to it."""

    @property
    def is_hosted(self) -> bool:
        """Whether the stack runs it."""
        return self.image is not None

    def address(self, namespace: str, name: str) -> str:
        """Where it is asked: inside the cluster, or where its url says."""
        return self.url or super().address(namespace, name)

    @model_validator(mode="after")
    def _here_or_elsewhere(self) -> Self:
        if self.is_hosted:
            return self
        fields = HostedServer.model_fields
        written = [name for name in fields if name in self.model_fields_set - {"transport"}]
        if written:
            raise together(
                type(self).__name__,
                [
                    fault(
                        "has no effect on a server that runs elsewhere",
                        remedy="remove it, or give image in place of url",
                        at=(fields[name].alias or name,),
                    )
                    for name in written
                ],
            )
        return self
