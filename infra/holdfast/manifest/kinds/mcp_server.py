"""A tool server: one that the stack runs, or the address of one that runs elsewhere."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Final

from pydantic import Field
from pydantic_core import PydanticCustomError

from holdfast.kube.paths import Path
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.card import AgentCardSpec
from holdfast.manifest.agent.container import ContainerSettings
from holdfast.manifest.agent.exposure import Network
from holdfast.manifest.agent.governance import Governance
from holdfast.manifest.agent.pod import PodSettings
from holdfast.manifest.agent.scaling import Scaling
from holdfast.manifest.agent.state import SecretReference
from holdfast.manifest.agent.telemetry import Metrics, Telemetry
from holdfast.manifest.agent.tools import Transport
from holdfast.manifest.types.conditions import Every, Given, Written
from holdfast.manifest.types.manifest_model import Items
from holdfast.manifest.types.names import LabelName, TeamName, ToolName
from holdfast.manifest.types.rules import OneOf, Rule, Ruled, Unique
from holdfast.manifest.types.values import AbsolutePath, ImageReference, Port, Semver, Sha256, Url

PATHS: Final = {"streamable-http": "/mcp", "sse": "/sse"}
"""Where a server answers by default, as the official SDKs have it."""

OWN_PATHS: Final[Mapping[Path, Path]] = {
    ("scaling", "replicas"): ("replicas",),
    ("network", "expose", "port"): ("port",),
}
"""Field of an agent to the field of a tool server that stands for it, where they are not alike."""


class HostedServer(Ruled):
    """A tool server as a stack runs it: like an agent without model, closed but to its callers."""

    RULES: ClassVar[tuple[Rule | OneOf, ...]] = (
        Rule(
            "port-of-a-server",
            ~Written("network.expose.port"),
            "the port of a tool server stands in spec.port",
            remedy="move it there",
            at="network.expose.port",
        ),
    )

    image: ImageReference | None = None
    """Image of a server that the stack runs; excludes url."""
    transport: Transport = "streamable-http"
    """How it is spoken to; default streamable-http."""
    port: Port = 8080
    """Port that it listens on; default 8080."""
    path: AbsolutePath | None = None
    """Path that it answers at; default /mcp, and /sse for transport sse."""
    version: Semver = "0.0.0"
    """The server's own version (semantic)."""
    owner: TeamName | None = None
    """Team that answers for it; required on stacks with the prod profile."""
    governance: Governance = Governance.model_construct()
    """Decisions that the policy pack asks for; rendered to holdfast.dev/* on its objects."""
    container: ContainerSettings = ContainerSettings.model_construct()
    """Its container: command, environment, resources, probes; ready by default when it listens."""
    pod: PodSettings = PodSettings.model_construct()
    """Its pods: where they run, as which user, and with which sidecars."""
    secrets: Annotated[Items[SecretReference], Unique()] = ()
    """Secrets by reference."""
    replicas: Annotated[int, Field(ge=0, le=1000)] = 1
    """How many run; default 1."""
    network: Network = Network.model_construct()
    """What it may reach, and its callers; agents that name it may always call it."""

    def address(self, namespace: str, name: str) -> str:
        """Where it is asked, inside the cluster."""
        return f"http://{name}.{namespace}.svc:{self.port}{self.effective_path}"

    @property
    def effective_path(self) -> str:
        """Path that it answers at, as declared or by default."""
        return self.path or PATHS[self.transport]

    def as_agent(self) -> AgentSpec:
        """The same in the words of an agent: what is rendered is what an agent's parts are.

        It has no card and promises no metrics.
        """
        return AgentSpec.model_construct(
            version=self.version,
            owner=self.owner,
            governance=self.governance,
            image=self.image,
            container=self.container,
            pod=self.pod,
            secrets=self.secrets,
            scaling=Scaling(replicas=self.replicas),
            network=self.network.model_copy(
                update={"expose": self.network.expose.model_copy(update={"port": self.port})}
            ),
            telemetry=Telemetry(metrics=Metrics(enabled=False)),
            card=AgentCardSpec(enabled=False),
        )

    def faults(self) -> Iterator[PydanticCustomError]:
        """What is wrong between its fields, those included that it shares with agents."""
        own = list(super().faults())
        yield from own
        if self.image is not None and not own:
            yield from self.as_agent().faults()


class McpServerSpec(HostedServer):
    """A tool server that several agents share through tools[].mcp.serverRef."""

    RULES = (
        OneOf(("image", "url")),
        *(
            Rule(
                f"elsewhere-without-{name.replace('_', '-')}",
                Every((Given("url"), ~Given("image"))).excludes(Written(name)),
                "has no effect on a server that runs elsewhere",
                remedy="remove it, or give image in place of url",
                at=name,
            )
            for name in HostedServer.model_fields
            if name not in {"image", "transport"}
        ),
    )

    url: Url | None = None
    """Address of a server that runs elsewhere; excludes image."""
    tool_names: Annotated[Items[ToolName], Unique("")] = ()
    """The tools it offers; an agent's toolNames must be among them when given."""
    digest: Sha256 | None = None
    """Digest over the reviewed tools and instructions, as agents/tools.lock has it."""
    allowed_namespaces: Items[LabelName] = ()
    """Other namespaces whose agents may refer to it."""

    @property
    def is_hosted(self) -> bool:
        """Whether the stack runs it."""
        return self.image is not None

    def address(self, namespace: str, name: str) -> str:
        """Where it is asked: inside the cluster, or where its url says."""
        return self.url or super().address(namespace, name)
