"""The declared fleet: every agent, model and tool server of a project, for one environment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Segment, parse_path
from holdfast.manifest.agent import Agent, AgentSpec, McpServer, ModelConfig
from holdfast.manifest.environment import Environment
from holdfast.manifest.model import McpServerSpec, ModelConfigSpec, ObjectReference, as_reference
from holdfast.manifest.origin import Origin


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
            path: Field path in the manifest, such as `spec.env[0].value` or
                `metadata.labels["a.b/c"]`, or its parts; empty for the whole manifest.
        """
        parts = parse_path(path) if isinstance(path, str) else path
        return self.origin.nearest(parts).value_location


@dataclass(frozen=True, slots=True)
class DeclaredAgent(Declaration):
    """An agent as it is to run in one environment, overrides merged in."""

    agent: Agent

    @property
    def name(self) -> str:
        """Name of the agent, unique in the fleet."""
        return self.agent.metadata.name

    @property
    def spec(self) -> AgentSpec:
        """What the agent is and needs."""
        return self.agent.spec


@dataclass(frozen=True, slots=True)
class DeclaredModelConfig(Declaration):
    """A model that agents share."""

    model_config: ModelConfig

    @property
    def name(self) -> str:
        """Name of the model, unique in its namespace."""
        return self.model_config.metadata.name

    @property
    def spec(self) -> ModelConfigSpec:
        """The model."""
        return self.model_config.spec


@dataclass(frozen=True, slots=True)
class DeclaredMcpServer(Declaration):
    """A tool server that agents share."""

    mcp_server: McpServer

    @property
    def name(self) -> str:
        """Name of the server, unique in its namespace."""
        return self.mcp_server.metadata.name

    @property
    def spec(self) -> McpServerSpec:
        """The server."""
        return self.mcp_server.spec


@dataclass(frozen=True)
class Fleet:
    """All that is declared, valid as a whole.

    Attributes:
        agents: Sorted by name.
        model_configs: Sorted by namespace and name.
        mcp_servers: Sorted by namespace and name.
        environment: The settings of the stack that the fleet was loaded for.
        stack: Name of that stack; empty when none was given.
        settings_origin: Where those settings were written.
    """

    agents: tuple[DeclaredAgent, ...]
    model_configs: tuple[DeclaredModelConfig, ...]
    mcp_servers: tuple[DeclaredMcpServer, ...]
    environment: Environment
    stack: str = ""
    settings_origin: Origin = field(
        default_factory=lambda: Origin("", 0, 0), repr=False, compare=False
    )

    def setting_location(self, path: str = "") -> SourceLocation:
        """Place of a setting such as `policy.rules`, or of the closest one that was written."""
        return self.settings_origin.nearest(parse_path(path)).value_location

    def agent(self, reference: str | ObjectReference, namespace: str) -> DeclaredAgent | None:
        """The agent that a manifest of `namespace` refers to; None when there is none."""
        return self._agents.get(as_reference(reference, namespace))

    def model_config(
        self, reference: str | ObjectReference, namespace: str
    ) -> DeclaredModelConfig | None:
        """The shared model that a manifest of `namespace` refers to; None when there is none."""
        return self._model_configs.get(as_reference(reference, namespace))

    def mcp_server(
        self, reference: str | ObjectReference, namespace: str
    ) -> DeclaredMcpServer | None:
        """The tool server that a manifest of `namespace` refers to; None when there is none."""
        return self._mcp_servers.get(as_reference(reference, namespace))

    @cached_property
    def _agents(self) -> dict[tuple[str, str], DeclaredAgent]:
        return {(each.namespace, each.name): each for each in self.agents}

    @cached_property
    def _model_configs(self) -> dict[tuple[str, str], DeclaredModelConfig]:
        return {(each.namespace, each.name): each for each in self.model_configs}

    @cached_property
    def _mcp_servers(self) -> dict[tuple[str, str], DeclaredMcpServer]:
        return {(each.namespace, each.name): each for each in self.mcp_servers}
