"""Where an agent lives and what it shares with others: inputs of every component of an agent."""

from typing import Annotated

from pydantic import Field, StringConstraints

from holdfast.manifest.agent.governance import Governance
from holdfast.manifest.agent.model import ModelConfigSpec
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.values import (
    AgentName,
    LabelName,
    LabelValue,
    ManifestModel,
    QualifiedKey,
    Semver,
)
from holdfast.render.plan.marks import AgentMarks, Origin
from holdfast.render.plan.surroundings import Surroundings


class ObjectMetaInputs(ManifestModel):
    """Where something's objects live, and what they carry."""

    namespace: LabelName
    """Namespace of its objects."""
    labels: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels put on every object, never into selectors."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations put on every object."""


class AgentRef(ObjectMetaInputs):
    """The agent that a part belongs to."""

    name: AgentName
    """Name of the agent."""
    version: Semver = "0.0.0"
    """The agent's own version."""
    owner: LabelValue | None = None
    """Team that answers for it."""
    governance: Governance = Governance.model_construct()
    """Decisions that the policy pack asks for."""
    framework: LabelValue = "custom"
    """What it is written with."""
    description: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """What it is for."""
    queue_name: LabelName | None = None
    """Kueue LocalQueue that its pods wait in."""

    def marks(self, origin: Origin) -> AgentMarks:
        """What the agent's objects carry."""
        return AgentMarks(
            name=self.name,
            namespace=self.namespace,
            origin=origin,
            version=self.version,
            owner=self.owner or "",
            component=self.framework,
            description=self.description or "",
            queue=self.queue_name or "",
            governance=self.governance,
            labels=self.labels,
            annotations=self.annotations,
        )


class Shared(ManifestModel):
    """What agents share and what the stack offers."""

    environment: Environment = Environment.model_construct()
    """Settings of the stack: gateways, DNS, telemetry."""
    model_configs: dict[LabelName, ModelConfigSpec] = Field(default_factory=dict)
    """Models that model.ref may name, in the agent's namespace."""
    mcp_servers: dict[LabelName, McpServerSpec] = Field(default_factory=dict)
    """Tool servers that serverRef may name, in the agent's namespace."""

    def surroundings(self, namespace: str) -> Surroundings:
        """The same, as rendering wants it."""
        return Surroundings(
            self.environment,
            models={(namespace, name): spec for name, spec in self.model_configs.items()},
            servers={(namespace, name): spec for name, spec in self.mcp_servers.items()},
        )


class ContextInputs(ManifestModel):
    """What refers to what agents share."""

    shared: Shared = Shared.model_construct()
    """What agents share and what the stack offers."""
