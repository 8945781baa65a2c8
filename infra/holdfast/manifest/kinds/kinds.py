"""The kinds that may stand in `agents/`: an agent, and what agents share."""

from typing import Final, Literal

from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.agent.model import ModelConfigSpec
from holdfast.manifest.kinds.exemptions import DriftIgnoreSpec, PolicyExceptionSpec
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.kinds.team import AgentTeamSpec
from holdfast.manifest.types.manifest import Manifest

MCP_SERVER_KIND: Final = "MCPServer"


class AgentTeam(Manifest):
    """A team as declared."""

    kind: Literal["AgentTeam"]
    """AgentTeam."""
    spec: AgentTeamSpec
    """Its members and what they have in common."""


class ModelConfig(Manifest):
    """A shared model as declared."""

    kind: Literal["ModelConfig"]
    """ModelConfig."""
    spec: ModelConfigSpec
    """The model."""


class McpServer(Manifest):
    """A shared tool server as declared."""

    kind: Literal["MCPServer"]
    """MCPServer."""
    spec: McpServerSpec
    """The server."""


class PolicyException(Manifest):
    """A waiver as declared."""

    kind: Literal["PolicyException"]
    """PolicyException."""
    spec: PolicyExceptionSpec
    """What is waived, why and until when."""


class DriftIgnore(Manifest):
    """A rule on expected drift as declared."""

    kind: Literal["DriftIgnore"]
    """DriftIgnore."""
    spec: DriftIgnoreSpec
    """What is expected, why and until when."""


Companion = AgentTeam | ModelConfig | McpServer | PolicyException | DriftIgnore
KINDS: Final[dict[str, type[Agent | Companion]]] = {
    kind.KIND: kind
    for kind in (Agent, AgentTeam, ModelConfig, McpServer, PolicyException, DriftIgnore)
}
"""Kinds that may stand in agents/, by the word in `kind`."""
