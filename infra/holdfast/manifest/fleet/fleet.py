"""The declared fleet: every agent, model and tool server of a project, for one environment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from holdfast_policies.own.source import RuleFile

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Segment, parse_path
from holdfast.manifest.agent.agent import AGENT_KIND, Agent, AgentSpec
from holdfast.manifest.agent.model import ModelConfigSpec, ObjectReference, as_reference
from holdfast.manifest.fleet.tool_lock import ToolLock
from holdfast.manifest.kinds.exemptions import DriftIgnoreSpec, PolicyExceptionSpec
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, AgentTeam, Companion, McpServer
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.kinds.team import AgentTeamSpec
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.manifest import API_VERSION, Metadata

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What every declared object has, whatever its kind.

    Attributes:
        namespace: Where it lives; the stack's default filled in.
        source: File that declares it, relative to the project root, with forward slashes.
        origin: Where each of its values was written, the stack's overrides included.
    """

    namespace: str
    source: str
    origin: Origin = field(repr=False, compare=False)

    def location_of(self, path: str | Sequence[Segment] = "") -> SourceLocation:
        """Place of a field, or of the closest one around it that was written.

        Args:
            path: Field path in the manifest, such as `spec.container.env[0].value` or
                `metadata.labels["a.b/c"]`, or its parts; empty for the whole manifest.
        """
        parts = parse_path(path) if isinstance(path, str) else path
        return self.origin.nearest(parts).value_location


@dataclass(frozen=True, slots=True)
class DeclaredAgent(Declaration):
    """An agent as it is to run in one environment, overrides merged in.

    Attributes:
        kind: MCPServer for a tool server that the stack runs, in the words of an agent.
    """

    agent: Agent
    kind: str = AGENT_KIND

    @property
    def name(self) -> str:
        """Name of the agent, unique in the fleet."""
        return self.agent.metadata.name

    @property
    def spec(self) -> AgentSpec:
        """What the agent is and needs."""
        return self.agent.spec


@dataclass(frozen=True, slots=True)
class DeclaredCompanion(Declaration, Generic[S]):
    """What agents share, or what is said about several of them: a manifest of another kind."""

    kind: str
    metadata: Metadata
    spec: S

    @property
    def name(self) -> str:
        """Name of the object, unique in its kind and namespace."""
        return self.metadata.name


DeclaredAgentTeam = DeclaredCompanion[AgentTeamSpec]
DeclaredDriftIgnore = DeclaredCompanion[DriftIgnoreSpec]
DeclaredMcpServer = DeclaredCompanion[McpServerSpec]
DeclaredModelConfig = DeclaredCompanion[ModelConfigSpec]
DeclaredPolicyException = DeclaredCompanion[PolicyExceptionSpec]
Declared = DeclaredAgent | DeclaredCompanion[Any]


class KindOf(Protocol[S_co]):
    """A kind of manifest, by the type of its spec."""

    @property
    def spec(self) -> S_co:
        """What the object is and needs."""


def declared(manifest: Agent | Companion, namespace: str, source: str, origin: Origin) -> Declared:
    """A valid manifest at its place.

    Args:
        manifest: What is declared.
        namespace: Where it lives; the stack's default filled in.
        source: File that declares it.
        origin: Where each of its values was written.
    """
    if isinstance(manifest, Agent):
        return DeclaredAgent(namespace, source, origin, manifest)
    return DeclaredCompanion(
        namespace, source, origin, manifest.kind, manifest.metadata, manifest.spec
    )


def fleet_of(
    manifests: Iterable[Declared],
    environment: Environment,
    tool_lock: "ToolLock | None" = None,
    stack: str = "",
) -> "Fleet":
    """The fleet that manifests declare, wherever they were read.

    Args:
        manifests: Valid ones, in any order.
        environment: Settings of the stack.
        tool_lock: The reviewed tools of servers.
        stack: Name of the stack; empty for none.
    """
    agents: list[DeclaredAgent] = []
    companions: list[DeclaredCompanion[Any]] = []
    for each in manifests:
        if isinstance(each, DeclaredAgent):
            agents.append(each)
        else:
            companions.append(each)
    return Fleet(
        agents=tuple(sorted(agents, key=lambda each: each.name)),
        companions=tuple(sorted(companions, key=lambda each: (each.namespace, each.name))),
        environment=environment,
        tool_lock=tool_lock or ToolLock(),
        stack=stack,
    )


@dataclass(frozen=True)
class Fleet:
    """All that is declared, valid as a whole.

    Attributes:
        agents: Sorted by name.
        companions: Manifests of all other kinds, sorted by namespace and name.
        tool_lock: The reviewed tools of servers.
        environment: The settings of the stack that the fleet was loaded for.
        stack: Name of that stack; empty when none was given.
        settings_origin: Where those settings were written.
        rule_files: Own rules of the project, as text.
    """

    agents: tuple[DeclaredAgent, ...]
    environment: Environment
    companions: tuple[DeclaredCompanion[Any], ...] = ()
    tool_lock: ToolLock = field(default_factory=ToolLock)
    stack: str = ""
    settings_origin: Origin = field(
        default_factory=lambda: Origin("", 0, 0), repr=False, compare=False
    )
    rule_files: tuple[RuleFile, ...] = ()

    @cached_property
    def workloads(self) -> tuple[DeclaredAgent, ...]:
        """All that the stack runs: the agents, then the tool servers, as agents without model."""
        return (*self.agents, *(server_as_agent(each) for each in self.hosted_servers))

    @property
    def hosted_servers(self) -> tuple[DeclaredMcpServer, ...]:
        """The tool servers that the stack runs."""
        return tuple(each for each in self.of(McpServer) if each.spec.is_hosted)

    def setting_location(self, path: str = "") -> SourceLocation:
        """Place of a setting such as `policy.rules`, or of the closest one that was written."""
        return self.settings_origin.nearest(parse_path(path)).value_location

    def agent(self, reference: str | ObjectReference, namespace: str) -> DeclaredAgent | None:
        """The agent that a manifest of `namespace` refers to; None when there is none."""
        return self._agents.get(as_reference(reference, namespace))

    def of(self, kind: type[KindOf[S]]) -> tuple[DeclaredCompanion[S], ...]:
        """All manifests of one kind, such as `ModelConfig`, sorted by namespace and name."""
        word = kind.KIND  # type: ignore[attr-defined]  # a class variable, which no protocol has
        return tuple(each for each in self.companions if each.kind == word)

    def find(
        self, kind: type[KindOf[S]], reference: str | ObjectReference, namespace: str
    ) -> DeclaredCompanion[S] | None:
        """The object of a kind that a manifest of `namespace` refers to; None without one."""
        word = kind.KIND  # type: ignore[attr-defined]  # a class variable, which no protocol has
        return self._companions.get((word, *as_reference(reference, namespace)))

    def with_items(self, kind: type[KindOf[S]], items: Iterable[DeclaredCompanion[S]]) -> "Fleet":
        """The fleet with other manifests of one kind."""
        word = kind.KIND  # type: ignore[attr-defined]  # a class variable, which no protocol has
        others = (each for each in self.companions if each.kind != word)
        return replace(self, companions=(*others, *items))

    def team_of(self, agent: DeclaredAgent) -> DeclaredAgentTeam | None:
        """The team that names an agent among its members; None when none does."""
        return self._teams.get((agent.namespace, agent.name))

    @cached_property
    def _teams(self) -> dict[tuple[str, str], DeclaredAgentTeam]:
        return {
            as_reference(member, team.namespace): team
            for team in self.of(AgentTeam)
            for member in team.spec.members
        }

    @cached_property
    def _agents(self) -> dict[tuple[str, str], DeclaredAgent]:
        return {(each.namespace, each.name): each for each in self.agents}

    @cached_property
    def _companions(self) -> dict[tuple[str, str, str], DeclaredCompanion[Any]]:
        return {(each.kind, each.namespace, each.name): each for each in self.companions}


def server_as_agent(server: DeclaredMcpServer) -> DeclaredAgent:
    """A tool server that the stack runs, in the words of an agent; its fields stand at its own."""
    agent = Agent.model_construct(
        api_version=API_VERSION,
        kind="Agent",
        metadata=server.metadata,
        spec=server.spec.as_agent(),
    )
    return DeclaredAgent(server.namespace, server.source, server.origin, agent, MCP_SERVER_KIND)
