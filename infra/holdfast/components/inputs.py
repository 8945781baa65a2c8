"""What the components accept, validated: the manifest's own fields, plus where the agent lives.

The typed dictionaries that callers see (`arguments.py`) are generated from these models.
"""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from holdfast.manifest.a2a import AgentCardSpec, Provider
from holdfast.manifest.admission import AdmissionSettings
from holdfast.manifest.agent import AgentSpec
from holdfast.manifest.backup import RestoreFrom
from holdfast.manifest.dependency import DependencyReference
from holdfast.manifest.environment import Environment, Profile
from holdfast.manifest.exposure import Network, Security
from holdfast.manifest.kinds import MCP_SERVER_KIND
from holdfast.manifest.lifecycle import Lifecycle
from holdfast.manifest.limits import Budget, Guardrail
from holdfast.manifest.mcp_server import HostedServer, McpServerSpec
from holdfast.manifest.memory import Database, Memory
from holdfast.manifest.model import Model, ModelConfigSpec, Prompt
from holdfast.manifest.rollout import Rollout
from holdfast.manifest.runtime import ContainerPort
from holdfast.manifest.scaling import Availability, Scaling
from holdfast.manifest.skills import AgentSkill
from holdfast.manifest.state import ConfigEntry, SecretReference, StorageVolume
from holdfast.manifest.telemetry import Telemetry
from holdfast.manifest.tooling import Tool
from holdfast.manifest.values import (
    AgentName,
    DigestReference,
    Items,
    JsonObject,
    LabelName,
    LabelValue,
    ManifestModel,
    QualifiedKey,
    Semver,
    Url,
)
from holdfast.render.admission import AdmissionPlan, judged_by
from holdfast.render.marks import AgentMarks, Origin
from holdfast.render.plan import AgentPlan
from holdfast.render.surroundings import Surroundings
from holdfast.render.tool_servers import COMPONENT


class AgentPlace(ManifestModel):
    """The agent that a part belongs to."""

    name: AgentName
    """Name of the agent."""
    namespace: LabelName
    """Namespace of its objects."""
    version: Semver = "0.0.0"
    """The agent's own version."""
    owner: LabelValue | None = None
    """Team that answers for it."""
    framework: Literal["langgraph", "crewai", "adk", "openai", "dapr", "custom"] = "custom"
    """What it is written with."""
    description: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """What it is for."""
    queue_name: LabelName | None = None
    """Kueue LocalQueue that its pods wait in."""
    labels: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels put on every object, never into selectors."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations put on every object."""

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
            labels=self.labels,
            annotations=self.annotations,
        )


class Shared(ManifestModel):
    """What agents share and what the stack offers."""

    environment: Environment = Environment()
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


class PartInputs(ManifestModel):
    """Arguments of one part of an agent."""

    agent: AgentPlace
    """The agent that the part belongs to."""

    def plan(self, name: str, stack: str) -> AgentPlan:
        """The agent as far as this part declares it."""
        fields = {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in AgentSpec.model_fields
        }
        # A part knows only its own fields; what it does not know, its rendering does not ask for.
        spec = AgentSpec.model_construct(
            version=self.agent.version, framework=self.agent.framework, **fields
        )
        return AgentPlan(self.agent.marks(Origin(stack)), spec, self._surroundings())

    def _surroundings(self) -> Surroundings:
        return Surroundings()


class SharingPartInputs(PartInputs):
    """Arguments of a part that refers to what agents share."""

    shared: Shared = Shared()
    """What agents share and what the stack offers."""

    def _surroundings(self) -> Surroundings:
        return self.shared.surroundings(self.agent.namespace)


class AgentIdentityInputs(PartInputs):
    """Arguments of AgentIdentity."""

    security: Security = Security()
    """The identity and its rights."""
    lifecycle: Lifecycle = Lifecycle()
    """Of this, leaderElection: it brings rights to a Lease."""


class AgentSecretsInputs(SharingPartInputs):
    """Arguments of AgentSecrets."""

    secrets: Items[SecretReference]
    """Secrets by reference."""
    security: Security = Security()
    """The identity with which AWS is asked."""


class AgentStorageInputs(SharingPartInputs):
    """Arguments of AgentStorage."""

    storage: Items[StorageVolume]
    """Volumes that survive restarts."""
    restore_from: RestoreFrom | None = None
    """VolumeSnapshot that fills new volumes, or {volume: snapshot}."""


class AgentScalingInputs(SharingPartInputs):
    """Arguments of AgentScaling."""

    scaling: Scaling
    """How many replicas run."""
    availability: Availability = Availability()
    """How many may be missing."""
    rollout: Rollout = Rollout()
    """Of this, the strategy: it says which workload is scaled."""


class AgentConfigInputs(SharingPartInputs):
    """Arguments of AgentConfig."""

    model: Model | None = None
    """The model."""
    prompt: Prompt | None = None
    """The system message."""
    tools: Items[Tool] = ()
    """What the agent may call."""
    memory: Memory = Memory()
    """What the agent remembers, and where."""
    databases: Items[Database] = ()
    """Databases it talks to."""
    skills: Items[AgentSkill] = ()
    """Folders with instructions and scripts that it reads."""
    secrets: Items[SecretReference] = ()
    """Secrets by reference, which model and tools name."""
    config: Items[ConfigEntry] = ()
    """Configuration files."""
    budget: Budget = Budget()
    """What it may spend."""
    guardrails: Items[Guardrail] = ()
    """Policies of the model gateway that judge what it sends and gets."""
    a2a: AgentCardSpec = Field(default=AgentCardSpec(), alias="a2a")
    """How it presents itself to other agents: its card."""
    provider: Provider | None = None
    """Who offers the agent; told in its card."""
    icon_url: Url | None = None
    """Picture of the agent; told in its card."""
    documentation_url: Url | None = None
    """Page about the agent; told in its card."""
    network: Network = Network()
    """Port of the address in its card."""


class AgentMonitoringInputs(SharingPartInputs):
    """Arguments of AgentMonitoring."""

    telemetry: Telemetry = Telemetry()
    """Metrics, alerts and objectives."""


class AgentNetworkInputs(SharingPartInputs):
    """Arguments of AgentNetwork."""

    network: Network = Network()
    """Who may call it, what it may reach."""
    lifecycle: Lifecycle = Lifecycle()
    """Of this, the fetches: their hosts join the egress."""
    availability: Availability = Availability()
    """Of this, which Deployment the Service leads to."""
    rollout: Rollout = Rollout()
    """Of this, the strategy: with BlueGreen, Argo Rollouts moves the Service."""
    telemetry: Telemetry = Telemetry()
    """Metrics port and trace endpoint."""
    ports: Items[ContainerPort] = ()
    """Ports beyond the exposed one and the metrics port."""
    model: Model | None = None
    """The model; its host joins the egress."""
    tools: Items[Tool] = ()
    """The tools; their hosts join the egress."""
    memory: Memory = Memory()
    """The memory; its store joins the egress."""
    databases: Items[Database] = ()
    """The databases; their hosts join the egress."""
    depends_on: Items[DependencyReference] = ()
    """What runs before the agent; its hosts join the egress."""
    skills: Items[AgentSkill] = ()
    """Skills; where they are fetched from joins the egress."""


class AgentInputs(AgentSpec):
    """Arguments of Agent and AgentWorkload: the manifest's spec, and where the agent lives."""

    agent_name: AgentName | None = None
    """Name of the agent; default the resource's name."""
    namespace: LabelName
    """Namespace of its objects."""
    labels: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels put on every object, never into selectors."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations put on every object."""
    shared: Shared = Shared()
    """What agents share and what the stack offers."""

    def plan(self, name: str, stack: str) -> AgentPlan:
        """The agent, ready to be rendered."""
        place = AgentPlace(
            name=self.agent_name or name,
            namespace=self.namespace,
            version=self.version,
            owner=self.owner,
            framework=self.framework,
            description=self.description,
            queue_name=self.queue_name,
            labels=self.labels,
            annotations=self.annotations,
        )
        surroundings = self.shared.surroundings(self.namespace)
        return AgentPlan(place.marks(Origin(stack)), self, surroundings)


class McpServerInputs(HostedServer):
    """Arguments of McpServer: what a manifest says of a server that the stack runs."""

    image: DigestReference
    """Image with its digest: name@sha256:<64 hex digits>."""
    server_name: AgentName | None = None
    """Name of the server; default the resource's name."""
    namespace: LabelName
    """Namespace of its objects."""
    labels: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels put on every object, never into selectors."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations put on every object."""
    shared: Shared = Shared()
    """What the stack offers."""

    def plan(self, name: str, stack: str) -> AgentPlan:
        """The server, ready to be rendered."""
        place = AgentPlace(
            name=self.server_name or name,
            namespace=self.namespace,
            version=self.version,
            owner=self.owner,
            labels=self.labels,
            annotations=self.annotations,
        )
        marks = replace(place.marks(Origin(stack)), component=COMPONENT)
        surroundings = self.shared.surroundings(self.namespace)
        return AgentPlan(
            marks, self.as_agent(), surroundings, kind=MCP_SERVER_KIND, url_path=self.effective_path
        )

    @property
    def shared_spec(self) -> McpServerSpec:
        """The same, as agents that name it know it."""
        return McpServerSpec.model_construct(
            **{name: getattr(self, name) for name in HostedServer.model_fields}
        )


class FleetInputs(ManifestModel):
    """Arguments of Fleet."""

    agents: dict[AgentName, AgentInputs]
    """Agents by name."""
    mcp_servers: dict[AgentName, McpServerInputs] = Field(default_factory=dict)
    """Tool servers by name; agents of the same namespace may name them in serverRef, and are let
    in."""
    namespaces: Literal["managed", "existing"] = "managed"
    """managed: the fleet declares its namespaces, with Pod Security labels; existing: not."""


class AdmissionPoliciesInputs(AdmissionSettings):
    """Arguments of AdmissionPolicies."""

    profile: Profile | None = None
    """Levels of the rules; default by the stack's name, anything but dev and staging is prod."""
    rules: dict[str, JsonObject] = Field(default_factory=dict)
    """Rule to its level (enforcementLevel) and parameters, over the profile."""
    namespaces: Items[LabelName] = ()
    """The namespaces whose objects are judged, with scope namespaces."""

    def plan(self, name: str, stack: str) -> AdmissionPlan:
        """The policies that the arguments describe."""
        settings = AdmissionSettings(
            mode=self.mode,
            scope=self.scope,
            left_out_namespaces=self.left_out_namespaces,
            controllers=self.controllers,
        )
        profile = judged_by(self.profile or stack, self.rules)
        return AdmissionPlan(name, profile, settings, Origin(stack), self.namespaces)
