"""The manifest of an agent."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from holdfast.manifest.agent.a2a import AgentCardSpec, Provider
from holdfast.manifest.agent.agent_checks import faults_of_spec
from holdfast.manifest.agent.agent_types import AgentType
from holdfast.manifest.agent.backup import AGENT_NAME_MAX_CHARACTERS as BACKUP_NAME_MAX_CHARACTERS
from holdfast.manifest.agent.backup import Backup, RestoreFrom
from holdfast.manifest.agent.dependency import DependencyReference
from holdfast.manifest.agent.drift import DriftSettings
from holdfast.manifest.agent.exposure import Network, Security
from holdfast.manifest.agent.governance import Governance
from holdfast.manifest.agent.health import Probes
from holdfast.manifest.agent.lifecycle import Lifecycle
from holdfast.manifest.agent.memory import Database, Memory
from holdfast.manifest.agent.model import Budget, Guardrail, Model, Prompt
from holdfast.manifest.agent.rollout import DEFAULT_DEADLINE_SECONDS, Rollout
from holdfast.manifest.agent.runtime import (
    ContainerPort,
    EnvFromSource,
    EnvVar,
    LocalObjectReference,
    Placement,
    Resources,
    TemporaryFolder,
)
from holdfast.manifest.agent.sandbox import SandboxSettings
from holdfast.manifest.agent.scaling import Availability, Scaling
from holdfast.manifest.agent.schedule import Schedule, Trigger, run_names
from holdfast.manifest.agent.skills import AgentSkill
from holdfast.manifest.agent.state import ConfigEntry, SecretReference, StorageVolume
from holdfast.manifest.agent.telemetry import Telemetry
from holdfast.manifest.agent.tools import Tool
from holdfast.manifest.text.faults import fault, together
from holdfast.manifest.types.kubernetes_fields import ExtraContainer, PodSpecChange
from holdfast.manifest.types.manifest import Manifest
from holdfast.manifest.types.references import RefersTo
from holdfast.manifest.types.values import (
    AbsolutePath,
    ImageReference,
    Items,
    LabelName,
    LabelValue,
    Semver,
    Text,
    Url,
    duration_milliseconds,
)

AGENT_KIND = "Agent"
DEFAULT_GRACE_SECONDS = 60
CRON_JOB_NAME_MAX_CHARACTERS = 52
SECONDS_BEYOND_STARTUP = 60


class AgentSpec(Placement):
    """What an agent is and needs."""

    type: AgentType = "Service"
    """Service: a Deployment that answers requests; Job: runs that end, by schedules and triggers;
    Sandbox: a Sandbox, or a pool of warm ones, of agent-sandbox. Default Service."""
    description: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """What the agent is for, at most 1,000 characters."""
    version: Semver
    """The agent's own version (semantic)."""
    owner: LabelValue | None = None
    """Team that answers for the agent; required on stacks with the prod profile."""
    governance: Governance = Governance.model_construct()
    """Decisions that the policy pack asks for; rendered to holdfast.dev/* on its objects."""
    framework: LabelValue = "custom"
    """What the agent is written with, such as langgraph; a label, default custom."""
    provider: Provider | None = None
    """Who offers the agent; shown in its card."""
    icon_url: Url | None = None
    """Picture of the agent; shown in its card."""
    documentation_url: Url | None = None
    """Page about the agent; shown in its card."""
    image: ImageReference | None = None
    """Image, such as name@sha256:<64 hex digits>; a tag without digest passes the policy pack in
    profile dev only. Required but with runtime: managed."""
    runtime: Literal["managed"] | None = None
    """managed: the stack's runtime image (holdfast:images.runtime), which reads from agent.json
    what the agent is; excludes image. Default the agent's own image."""
    command: Items[Text] = ()
    """Entry point; default the image's."""
    args: Items[str] = ()
    """Arguments; default the image's."""
    working_dir: AbsolutePath | None = None
    """Working directory; default the image's."""
    ports: Items[ContainerPort] = ()
    """Ports beyond the exposed one and the metrics port."""
    env: Items[EnvVar] = ()
    """Environment variables, by name."""
    env_from: Items[EnvFromSource] = ()
    """ConfigMaps and Secrets whose keys become variables."""
    image_pull_secrets: Items[LocalObjectReference] = ()
    """Secrets for the registry, as {name}."""
    tmp: TemporaryFolder = TemporaryFolder.model_construct()
    """The folder /tmp, which a read-only root file system leaves writable."""
    depends_on: Items[Annotated[DependencyReference, RefersTo("", "dependsOn")]] = ()
    """What must run before the agent starts: agents, shared servers and models, Services. Each
    gives a variable `<NAME>_URL`; agents among them are deployed first."""
    wait_for_dependencies: bool = True
    """Hold the agent back, in an init container, until each of dependsOn listens; default true."""
    model: Model | None = None
    """The model."""
    prompt: Prompt | None = None
    """The system message."""
    tools: Items[Tool] = ()
    """What the agent may call."""
    memory: Memory = Memory.model_construct()
    """What it remembers, and where."""
    skills: Items[AgentSkill] = ()
    """Folders with instructions and scripts that it reads."""
    a2a: AgentCardSpec = Field(default=AgentCardSpec.model_construct(), alias="a2a")
    """How it presents itself to other agents: its card."""
    allowed_namespaces: Items[LabelName] = ()
    """Other namespaces whose agents may refer to it."""
    budget: Budget = Budget.model_construct()
    """What it may spend."""
    guardrails: Items[Guardrail] = ()
    """Policies of the model gateway that judge what it sends and gets."""
    storage: Items[StorageVolume] = ()
    """Volumes that survive restarts."""
    databases: Items[Database] = ()
    """Databases it talks to."""
    backup: Backup | None = None
    """Backups of its volumes; default none."""
    restore_from: RestoreFrom | None = None
    """What fills new volumes: a VolumeSnapshot, {volume: snapshot} when there are several, or the
    id of a backup of method Job. To stay as long as the claim does."""
    secrets: Items[SecretReference] = ()
    """Secrets by reference."""
    config: Items[ConfigEntry] = ()
    """Configuration files."""
    resources: Resources = Resources.model_construct()
    """Requests and limits."""
    scaling: Scaling = Scaling.model_construct()
    """How many run."""
    availability: Availability = Availability.model_construct()
    """What keeps it up."""
    rollout: Rollout = Rollout.model_construct()
    """How changes reach it."""
    network: Network = Network.model_construct()
    """Who may call it, what it may reach."""
    security: Security = Security.model_construct()
    """What it may do."""
    probes: Probes = Probes.model_construct()
    """How its health is asked for."""
    lifecycle: Lifecycle = Lifecycle.model_construct()
    """How it starts, proves itself and ends."""
    telemetry: Telemetry = Telemetry.model_construct()
    """What it tells about itself."""
    drift: DriftSettings = DriftSettings.model_construct()
    """What is done about drift of its objects; not rendered, read by `holdfast drift`."""
    schedules: Items[Schedule] = ()
    """When an agent of type Job runs."""
    triggers: Items[Trigger] = ()
    """What else starts runs of an agent of type Job: work that waits. Needs KEDA."""
    sandbox: SandboxSettings = SandboxSettings.model_construct()
    """The workspace of an agent of type Sandbox."""
    sidecars: Items[ExtraContainer] = ()
    """Containers beside the agent's, as in PodSpec; the security defaults are merged in."""
    init_containers: Items[ExtraContainer] = ()
    """Containers that end before the agent starts, as in PodSpec; after Holdfast's own."""
    pod_overrides: PodSpecChange | None = None
    """Laid over the rendered PodSpec last: maps by key, lists by their merge key; {$patch: delete}
    in place of a value removes it."""

    @model_validator(mode="after")
    def _fields_agree(self) -> Self:
        if faults := list(faults_of_spec(self)):
            raise together(type(self).__name__, faults)
        return self

    @property
    def is_called(self) -> bool:
        """Whether somebody sends it requests, and it therefore has a port."""
        return self.type != "Job"

    @property
    def is_pooled(self) -> bool:
        """Whether its pods come from a warm pool, each with storage of its own."""
        return self.type == "Sandbox" and self.sandbox.warm_pool is not None

    @property
    def has_service(self) -> bool:
        """Whether it has one address: a pool has none, whoever claims a sandbox gets its own."""
        return self.is_called and not self.is_pooled

    @property
    def restored(self) -> dict[str, str]:
        """Volume of the agent's own to the backup that fills it."""
        if self.restore_from is None or isinstance(self.restore_from, dict):
            return dict(self.restore_from or {})
        own = (volume.name for volume in self.storage if volume.existing_claim is None)
        return dict.fromkeys(own, self.restore_from)

    @property
    def longest_tool_seconds(self) -> int:
        """Seconds that the slowest tool may take, rounded up; 0 without tools."""
        timeouts = [duration_milliseconds(tool.mcp.timeout) for tool in self.tools if tool.mcp]
        return -(-max(timeouts, default=0) // 1000)

    @property
    def grace_seconds(self) -> int:
        """Seconds between SIGTERM and SIGKILL, as declared or derived."""
        declared = self.lifecycle.termination_grace_period_seconds
        return declared if declared is not None else max(DEFAULT_GRACE_SECONDS, self.drain_seconds)

    @property
    def drain_seconds(self) -> int:
        """Seconds that ending may take: the hook, then the slowest tool."""
        return self.longest_tool_seconds + self.lifecycle.pre_stop.reserved_seconds

    @property
    def is_single_writer(self) -> bool:
        """Whether only one pod can hold its volumes, not even two during an update."""
        return any(volume.is_single_writer for volume in self.storage)

    @property
    def progress_deadline_seconds(self) -> int:
        """Seconds after which an update counts as stuck, as declared or derived."""
        if self.rollout.progress_deadline_seconds is not None:
            return self.rollout.progress_deadline_seconds
        startup = self.probes.startup
        derived = startup.longest_seconds + SECONDS_BEYOND_STARTUP if startup else 0
        return max(DEFAULT_DEADLINE_SECONDS, derived)


class Agent(Manifest):
    """An agent as declared."""

    kind: Literal["Agent"]
    """Agent."""
    spec: AgentSpec
    """What it is and needs."""

    @model_validator(mode="after")
    def _backup_has_a_name(self) -> Self:
        limit = BACKUP_NAME_MAX_CHARACTERS
        if self.spec.backup is not None and len(self.metadata.name) > limit:
            raise fault(
                f"an agent with a backup must have a name of at most {limit} characters",
                found=str(len(self.metadata.name)),
                remedy="shorten it: <agent>-backup names a CronJob",
                at=("metadata", "name"),
            )
        return self

    @model_validator(mode="after")
    def _runs_have_names(self) -> Self:
        names: list[str] = []
        runs = run_names(self.metadata.name, self.spec.schedules, self.spec.triggers)
        for field, name, index in runs:
            at = ("spec", field, index, "id")
            if len(name) > CRON_JOB_NAME_MAX_CHARACTERS:
                limit = f"at most {CRON_JOB_NAME_MAX_CHARACTERS} characters"
                raise fault(
                    f"<agent>-<id> names an object that makes Jobs and must have {limit}",
                    found=f"{name!r} ({len(name)})",
                    remedy="shorten the agent's name or the id",
                    at=at,
                )
            if name in names:
                expected = "ids of schedules and triggers must be unique"
                raise fault(expected, found=f"{name!r} twice", at=at)
            names.append(name)
        return self
