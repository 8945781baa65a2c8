"""What each part of an agent accepts, validated: fields of the manifest, and whose part it is."""

from pydantic import Field

from holdfast.components.inputs import AgentRef, ContextInputs
from holdfast.manifest.agent.a2a import AgentCardSpec, Provider
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.backup import RestoreFrom
from holdfast.manifest.agent.dependency import DependencyReference
from holdfast.manifest.agent.exposure import Network, Security
from holdfast.manifest.agent.lifecycle import Lifecycle
from holdfast.manifest.agent.memory import Database, Memory
from holdfast.manifest.agent.model import Budget, Guardrail, Model, Prompt
from holdfast.manifest.agent.rollout import Rollout
from holdfast.manifest.agent.runtime import ContainerPort
from holdfast.manifest.agent.scaling import Availability, Scaling
from holdfast.manifest.agent.skills import AgentSkill
from holdfast.manifest.agent.state import ConfigEntry, SecretReference, StorageVolume
from holdfast.manifest.agent.telemetry import Telemetry
from holdfast.manifest.agent.tools import Tool
from holdfast.manifest.types.values import Items, ManifestModel, Url
from holdfast.render.plan.marks import Provenance
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.surroundings import Surroundings


class PartInputs(ManifestModel):
    """Arguments of one part of an agent."""

    agent: AgentRef
    """The agent that the part belongs to."""

    def plan(self, name: str, stack: str) -> AgentPlan:
        """The agent as far as this part declares it."""
        fields = {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set and name in AgentSpec.model_fields
        }
        # A part knows only its own fields; what it does not know, its rendering does not ask for.
        spec = AgentSpec.model_construct(
            version=self.agent.version, framework=self.agent.framework, **fields
        )
        return AgentPlan(self.agent.marks(Provenance(stack)), spec, self._surroundings())

    def _surroundings(self) -> Surroundings:
        return Surroundings()


class ContextPartInputs(ContextInputs, PartInputs):
    """Arguments of a part that refers to what agents share."""

    def _surroundings(self) -> Surroundings:
        return self.shared.surroundings(self.agent.namespace)


class AgentIdentityInputs(PartInputs):
    """Arguments of AgentIdentity."""

    security: Security = Security.model_construct()
    """The identity and its rights."""
    lifecycle: Lifecycle = Lifecycle.model_construct()
    """Of this, leaderElection: it brings rights to a Lease."""


class AgentSecretsInputs(ContextPartInputs):
    """Arguments of AgentSecrets."""

    secrets: Items[SecretReference]
    """Secrets by reference."""
    security: Security = Security.model_construct()
    """The identity with which AWS is asked."""


class AgentStorageInputs(ContextPartInputs):
    """Arguments of AgentStorage."""

    storage: Items[StorageVolume]
    """Volumes that survive restarts."""
    restore_from: RestoreFrom | None = None
    """VolumeSnapshot that fills new volumes, or {volume: snapshot}."""


class AgentScalingInputs(ContextPartInputs):
    """Arguments of AgentScaling."""

    scaling: Scaling
    """How many replicas run."""
    availability: Availability = Availability.model_construct()
    """How many may be missing."""
    rollout: Rollout = Rollout.model_construct()
    """Of this, the strategy: it says which workload is scaled."""


class AgentConfigInputs(ContextPartInputs):
    """Arguments of AgentConfig."""

    model: Model | None = None
    """The model."""
    prompt: Prompt | None = None
    """The system message."""
    tools: Items[Tool] = ()
    """What the agent may call."""
    memory: Memory = Memory.model_construct()
    """What the agent remembers, and where."""
    databases: Items[Database] = ()
    """Databases it talks to."""
    skills: Items[AgentSkill] = ()
    """Folders with instructions and scripts that it reads."""
    secrets: Items[SecretReference] = ()
    """Secrets by reference, which model and tools name."""
    config: Items[ConfigEntry] = ()
    """Configuration files."""
    budget: Budget = Budget.model_construct()
    """What it may spend."""
    guardrails: Items[Guardrail] = ()
    """Policies of the model gateway that judge what it sends and gets."""
    a2a: AgentCardSpec = Field(default=AgentCardSpec.model_construct(), alias="a2a")
    """How it presents itself to other agents: its card."""
    provider: Provider | None = None
    """Who offers the agent; stands in its card."""
    icon_url: Url | None = None
    """Picture of the agent; stands in its card."""
    documentation_url: Url | None = None
    """Page about the agent; stands in its card."""
    network: Network = Network.model_construct()
    """Port of the address in its card."""


class AgentMonitoringInputs(ContextPartInputs):
    """Arguments of AgentMonitoring."""

    telemetry: Telemetry = Telemetry.model_construct()
    """Metrics, alerts and objectives."""


class AgentNetworkInputs(ContextPartInputs):
    """Arguments of AgentNetwork."""

    network: Network = Network.model_construct()
    """Who may call it, what it may reach."""
    lifecycle: Lifecycle = Lifecycle.model_construct()
    """Of this, the fetches: their hosts join the egress."""
    availability: Availability = Availability.model_construct()
    """Of this, which Deployment the Service leads to."""
    rollout: Rollout = Rollout.model_construct()
    """Of this, the strategy: with BlueGreen, Argo Rollouts moves the Service."""
    telemetry: Telemetry = Telemetry.model_construct()
    """Metrics port and trace endpoint."""
    ports: Items[ContainerPort] = ()
    """Ports beyond the exposed one and the metrics port."""
    model: Model | None = None
    """The model; its host joins the egress."""
    tools: Items[Tool] = ()
    """The tools; their hosts join the egress."""
    memory: Memory = Memory.model_construct()
    """The memory; its store joins the egress."""
    databases: Items[Database] = ()
    """The databases; their hosts join the egress."""
    depends_on: Items[DependencyReference] = ()
    """What runs before the agent; its hosts join the egress."""
    skills: Items[AgentSkill] = ()
    """Skills; where they are fetched from joins the egress."""
