"""The kinds that may stand in `agents/`: an agent, and what agents share."""

from typing import Literal

from holdfast.manifest.agent.agent import AGENT_KIND, Agent, Metadata
from holdfast.manifest.agent.model import ModelConfigSpec
from holdfast.manifest.kinds.exemptions import DriftIgnoreSpec, PolicyExceptionSpec
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.kinds.team import AgentTeamSpec
from holdfast.manifest.types.values import ManifestModel

AGENT_TEAM_KIND = "AgentTeam"
DRIFT_IGNORE_KIND = "DriftIgnore"
MCP_SERVER_KIND = "MCPServer"
MODEL_CONFIG_KIND = "ModelConfig"
POLICY_EXCEPTION_KIND = "PolicyException"


class AgentTeam(ManifestModel):
    """A team as declared."""

    api_version: Literal["holdfast.dev/v1alpha1"]
    """Version of this manifest's schema."""
    kind: Literal["AgentTeam"]
    """AgentTeam."""
    metadata: Metadata
    """Name, place and marks."""
    spec: AgentTeamSpec
    """Its members and what they have in common."""


class ModelConfig(ManifestModel):
    """A shared model as declared."""

    api_version: Literal["holdfast.dev/v1alpha1"]
    """Version of this manifest's schema."""
    kind: Literal["ModelConfig"]
    """ModelConfig."""
    metadata: Metadata
    """Name, place and marks."""
    spec: ModelConfigSpec
    """The model."""


class McpServer(ManifestModel):
    """A shared tool server as declared."""

    api_version: Literal["holdfast.dev/v1alpha1"]
    """Version of this manifest's schema."""
    kind: Literal["MCPServer"]
    """MCPServer."""
    metadata: Metadata
    """Name, place and marks."""
    spec: McpServerSpec
    """The server."""


class PolicyException(ManifestModel):
    """A waiver as declared."""

    api_version: Literal["holdfast.dev/v1alpha1"]
    """Version of this manifest's schema."""
    kind: Literal["PolicyException"]
    """PolicyException."""
    metadata: Metadata
    """Name, place and marks."""
    spec: PolicyExceptionSpec
    """What is waived, why and until when."""


class DriftIgnore(ManifestModel):
    """A rule on expected drift as declared."""

    api_version: Literal["holdfast.dev/v1alpha1"]
    """Version of this manifest's schema."""
    kind: Literal["DriftIgnore"]
    """DriftIgnore."""
    metadata: Metadata
    """Name, place and marks."""
    spec: DriftIgnoreSpec
    """What is expected, why and until when."""


Companion = AgentTeam | ModelConfig | McpServer | PolicyException | DriftIgnore
KINDS: dict[str, type[Agent | Companion]] = {
    AGENT_KIND: Agent,
    AGENT_TEAM_KIND: AgentTeam,
    MODEL_CONFIG_KIND: ModelConfig,
    MCP_SERVER_KIND: McpServer,
    POLICY_EXCEPTION_KIND: PolicyException,
    DRIFT_IGNORE_KIND: DriftIgnore,
}
"""Kinds that may stand in agents/, by the word in `kind`."""
