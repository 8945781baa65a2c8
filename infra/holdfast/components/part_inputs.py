"""What each part of an agent accepts, validated: fields of the manifest, and whose part it is."""

from holdfast.components.inputs import AgentRef, ContextInputs
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.card import AgentCardSpec
from holdfast.manifest.agent.container import ContainerSettings
from holdfast.manifest.agent.dependency import DependencyReference
from holdfast.manifest.agent.exposure import Network
from holdfast.manifest.agent.memory import Memory
from holdfast.manifest.agent.model import Budget, Guardrail, Model, Prompt
from holdfast.manifest.agent.pod import PodSettings
from holdfast.manifest.agent.rollout import Rollout
from holdfast.manifest.agent.scaling import Scaling
from holdfast.manifest.agent.skills import AgentSkill
from holdfast.manifest.agent.state import ConfigEntry, SecretReference, StorageSettings
from holdfast.manifest.agent.telemetry import Telemetry
from holdfast.manifest.agent.tools import Tool
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.render.plan.metadata import Provenance
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.render_context import RenderContext


class PartInputs(ManifestModel):
    """Arguments of one part of an agent."""

    agent: AgentRef
    """The agent that the part belongs to."""

    def plan(self, name: str, origin: Provenance) -> AgentPlan:
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
        return AgentPlan(self.agent.meta(origin), spec, self._surroundings())

    def _surroundings(self) -> RenderContext:
        return RenderContext()


class ContextPartInputs(ContextInputs, PartInputs):
    """Arguments of a part that refers to what agents share."""

    def _surroundings(self) -> RenderContext:
        return self.shared.context(self.agent.namespace)


class AgentIdentityInputs(PartInputs):
    """Arguments of AgentIdentity."""

    pod: PodSettings = PodSettings.model_construct()
    """Of this, security: the identity and its rights."""
    scaling: Scaling = Scaling.model_construct()
    """Of this, leaderElection: it brings rights to a Lease."""


class AgentSecretsInputs(ContextPartInputs):
    """Arguments of AgentSecrets."""

    secrets: Items[SecretReference]
    """Secrets by reference."""
    pod: PodSettings = PodSettings.model_construct()
    """Of this, security: the identity with which AWS is asked."""


class AgentStorageInputs(ContextPartInputs):
    """Arguments of AgentStorage."""

    storage: StorageSettings
    """Of this, the volumes and what fills new ones."""


class AgentScalingInputs(ContextPartInputs):
    """Arguments of AgentScaling."""

    scaling: Scaling
    """How many replicas run, and how many may be missing."""
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
    storage: StorageSettings = StorageSettings.model_construct()
    """Of this, the databases."""
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
    card: AgentCardSpec = AgentCardSpec.model_construct()
    """How it presents itself to other agents: its card."""
    network: Network = Network.model_construct()
    """Port of the address in its card."""


class AgentMonitoringInputs(ContextPartInputs):
    """Arguments of AgentMonitoring."""

    telemetry: Telemetry = Telemetry.model_construct()
    """Metrics, alerts and objectives."""


class AgentNetworkInputs(ContextPartInputs):
    """Arguments of AgentNetwork."""

    network: Network = Network.model_construct()
    """Its callers, and what it may reach."""
    container: ContainerSettings = ContainerSettings.model_construct()
    """Of this, further ports, and the fetches: their hosts join the egress."""
    scaling: Scaling = Scaling.model_construct()
    """Of this, which Deployment the Service leads to."""
    rollout: Rollout = Rollout.model_construct()
    """Of this, the strategy: with BlueGreen, Argo Rollouts moves the Service."""
    telemetry: Telemetry = Telemetry.model_construct()
    """Metrics port and trace endpoint."""
    model: Model | None = None
    """The model; its host joins the egress."""
    tools: Items[Tool] = ()
    """The tools; their hosts join the egress."""
    memory: Memory = Memory.model_construct()
    """The memory; its store joins the egress."""
    storage: StorageSettings = StorageSettings.model_construct()
    """Of this, the databases: their hosts join the egress."""
    depends_on: Items[DependencyReference] = ()
    """What runs before the agent; its hosts join the egress."""
    skills: Items[AgentSkill] = ()
    """Skills; where they are fetched from joins the egress."""
