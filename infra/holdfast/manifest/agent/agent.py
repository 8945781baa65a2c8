"""The manifest of an agent."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from holdfast.manifest.agent.agent_checks import SPEC_RULES
from holdfast.manifest.agent.agent_types import (
    CALLED,
    RUN,
    SANDBOX,
    SERVING,
    AgentType,
    OnlyFor,
    rules_of_types,
)
from holdfast.manifest.agent.backup import BACKED_UP_AGENT_NAME_MAX
from holdfast.manifest.agent.card import AgentCardSpec
from holdfast.manifest.agent.container import ContainerSettings
from holdfast.manifest.agent.data_checks import DATA_RULES
from holdfast.manifest.agent.dependency import DependencyReference
from holdfast.manifest.agent.drift import DriftSettings
from holdfast.manifest.agent.exposure import Network
from holdfast.manifest.agent.governance import Governance
from holdfast.manifest.agent.memory import Memory
from holdfast.manifest.agent.model import Budget, Guardrail, Model, Prompt
from holdfast.manifest.agent.pod import PodSettings
from holdfast.manifest.agent.rollout import DEFAULT_DEADLINE_SECONDS, Rollout
from holdfast.manifest.agent.sandbox import SandboxSettings
from holdfast.manifest.agent.scaling import Scaling
from holdfast.manifest.agent.schedule import JobSettings, run_names
from holdfast.manifest.agent.skills import AgentSkill
from holdfast.manifest.agent.state import ConfigEntry, SecretReference, StorageSettings
from holdfast.manifest.agent.telemetry import Telemetry
from holdfast.manifest.agent.tools import Tool
from holdfast.manifest.agent.workload_checks import WORKLOAD_RULES
from holdfast.manifest.types.conditions import Every, Given, Written, any_given, is_
from holdfast.manifest.types.manifest import Manifest
from holdfast.manifest.types.manifest_model import Items
from holdfast.manifest.types.names import LabelName, LabelValue, TeamName
from holdfast.manifest.types.references import RefersTo
from holdfast.manifest.types.rules import Computed, Found, Rule, Ruled, Unique, finds
from holdfast.manifest.types.values import ImageReference, Semver, duration_milliseconds

AGENT_KIND = "Agent"
DEFAULT_GRACE_SECONDS = 60
CRON_JOB_NAME_MAX_CHARACTERS = 52
ANALYSED_NAME_MAX_CHARACTERS = 46
"""With a hyphen, a version of at most ten characters and another hyphen, a pod's name has 58
characters before its last five: what is longer is cut."""
SECONDS_BEYOND_STARTUP = 60


class AgentSpec(Ruled):
    """What an agent is and needs."""

    RULES = (
        Rule(
            "image-or-managed-runtime",
            Given("image") | is_("runtime", "managed"),
            "this field is required",
            remedy="add image, or runtime: managed",
            at="image",
        ),
        *(
            Rule(
                f"managed-runtime-brings-{field.rpartition('.')[2].replace('_', '-')}",
                is_("runtime", "managed").excludes(Written(field)),
                "has no effect with runtime: managed, which brings its own",
                remedy="remove it",
                at=field,
            )
            for field in ("image", "container.command", "container.args", "container.working_dir")
        ),
        Rule(
            "managed-runtime-has-a-model",
            is_("runtime", "managed").needs(Every((Given("model"), Given("prompt")))),
            "an agent of the managed runtime is what its model and prompt make it",
            remedy="add model and prompt",
            at="runtime",
        ),
        Rule(
            "job-has-runs",
            is_("type", "Job").needs(any_given("job.schedules", "job.triggers")),
            "an agent of type Job runs by its schedules and triggers, and has none",
            remedy='add job.schedules, such as [{cron: "0 2 * * *"}], or job.triggers',
            at="type",
        ),
        *SPEC_RULES,
        *DATA_RULES,
        *WORKLOAD_RULES,
    )

    type: AgentType = "Service"
    """Service: a Deployment that answers requests; Job: runs that end, by schedules and triggers;
    Sandbox: a Sandbox, or a pool of warm ones, of agent-sandbox. Default Service."""
    description: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """What the agent is for, at most 1,000 characters."""
    version: Semver
    """The agent's own version (semantic)."""
    owner: TeamName | None = None
    """Team that answers for the agent; required on stacks with the prod profile."""
    governance: Governance = Governance.model_construct()
    """Decisions that the policy pack asks for; rendered to holdfast.dev/* on its objects."""
    framework: LabelValue = "custom"
    """What the agent is written with, such as langgraph; a label, default custom."""
    image: ImageReference | None = None
    """Image, such as name@sha256:<64 hex digits>; a tag without digest passes the policy pack in
    profile dev only. Required but with runtime: managed."""
    runtime: Annotated[Literal["managed"] | None, OnlyFor(SERVING)] = None
    """managed: the stack's runtime image (holdfast:images.runtime), which reads from agent.json
    what the agent is; excludes image. Default the agent's own image."""
    container: ContainerSettings = ContainerSettings.model_construct()
    """The agent's own container: command, environment, resources, probes."""
    pod: PodSettings = PodSettings.model_construct()
    """Its pods: where they run, as which user, and with which sidecars."""
    depends_on: Items[Annotated[DependencyReference, RefersTo("", "dependsOn")]] = ()
    """What must run before the agent starts: agents, shared servers and models, Services. Each
    gives a variable `<NAME>_URL`; agents among them are deployed first."""
    model: Model | None = None
    """The model."""
    prompt: Prompt | None = None
    """The system message."""
    tools: Annotated[Items[Tool], Field(max_length=100)] = ()
    """What the agent may call."""
    memory: Memory = Memory.model_construct()
    """What it remembers, and where."""
    skills: Annotated[Items[AgentSkill], Unique()] = ()
    """Folders with instructions and scripts that it reads."""
    card: Annotated[AgentCardSpec, OnlyFor(CALLED)] = AgentCardSpec.model_construct()
    """How it presents itself to other agents: its card."""
    allowed_namespaces: Annotated[Items[LabelName], OnlyFor(CALLED)] = ()
    """Other namespaces whose agents may refer to it."""
    budget: Budget = Budget.model_construct()
    """What it may spend."""
    guardrails: Annotated[Items[Guardrail], Unique("")] = ()
    """Policies of the model gateway that judge what it sends and gets."""
    storage: StorageSettings = StorageSettings.model_construct()
    """Where its data are: volumes, databases, backups."""
    secrets: Annotated[Items[SecretReference], Unique()] = ()
    """Secrets by reference."""
    config: Annotated[Items[ConfigEntry], Unique()] = ()
    """Configuration files."""
    scaling: Annotated[Scaling, OnlyFor(SERVING)] = Scaling.model_construct()
    """How many run, and what keeps them up."""
    rollout: Annotated[Rollout, OnlyFor(SERVING)] = Rollout.model_construct()
    """How changes reach it."""
    network: Network = Network.model_construct()
    """Its callers, and what it may reach."""
    telemetry: Telemetry = Telemetry.model_construct()
    """Its metrics, logs, traces and objectives."""
    drift: DriftSettings = DriftSettings.model_construct()
    """What is done about drift of its objects; not rendered, read by `holdfast drift`."""
    job: Annotated[JobSettings, OnlyFor(RUN)] = JobSettings.model_construct()
    """What starts runs of an agent of type Job."""
    sandbox: Annotated[SandboxSettings, OnlyFor(SANDBOX)] = SandboxSettings.model_construct()
    """The workspace of an agent of type Sandbox."""

    @classmethod
    def derived_rules(cls) -> tuple[Rule, ...]:
        """Each field only on the types of agent on which it has an effect."""
        return rules_of_types(cls)

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
        """Whether it has one address: in a pool each claimed sandbox has its own."""
        return self.is_called and not self.is_pooled

    @property
    def longest_tool_seconds(self) -> int:
        """Seconds that the slowest tool may take, rounded up; 0 without tools."""
        timeouts = [duration_milliseconds(tool.mcp.timeout) for tool in self.tools if tool.mcp]
        return -(-max(timeouts, default=0) // 1000)

    @property
    def grace_seconds(self) -> int:
        """Seconds between SIGTERM and SIGKILL, as declared or derived."""
        declared = self.pod.termination_grace_period_seconds
        return declared if declared is not None else max(DEFAULT_GRACE_SECONDS, self.drain_seconds)

    @property
    def drain_seconds(self) -> int:
        """Seconds that ending may take: the hook, then the slowest tool."""
        return self.longest_tool_seconds + self.container.lifecycle.pre_stop.reserved_seconds

    @property
    def progress_deadline_seconds(self) -> int:
        """Seconds after which an update counts as stuck, as declared or derived."""
        if self.rollout.progress_deadline_seconds is not None:
            return self.rollout.progress_deadline_seconds
        startup = self.container.probes.effective_startup
        derived = startup.longest_seconds + SECONDS_BEYOND_STARTUP if startup else 0
        return max(DEFAULT_DEADLINE_SECONDS, derived)


def _longest_name(limit: int, part: str) -> Computed:
    """The name of an agent with some part has at most so many characters."""
    group, _, _ = part.rpartition(".")
    guard = f"!has(self.spec.{group}) || !has(self.spec.{part})"
    return Computed(cel=f"{guard} || size(self.metadata.name) <= {limit}")


class Agent(Manifest, Ruled):
    """An agent as declared."""

    RULES = (
        Rule(
            "backup-has-a-name",
            _longest_name(BACKED_UP_AGENT_NAME_MAX, "storage.backup"),
            "an agent with a backup must have a name of at most "
            f"{BACKED_UP_AGENT_NAME_MAX} characters",
            remedy="shorten it: <agent>-backup names a CronJob",
        ),
        Rule(
            "analysis-finds-its-pods",
            _longest_name(ANALYSED_NAME_MAX_CHARACTERS, "rollout.analysis"),
            "an agent with rollout.analysis must have a name of at most "
            f"{ANALYSED_NAME_MAX_CHARACTERS} characters",
            remedy="shorten it: names of pods are cut at 63, and the version with them",
        ),
        Rule(
            "runs-have-short-names",
            Computed(why_not="a run without id is named by its position, which CEL does not know"),
            "<agent>-<id> names an object that makes Jobs and must have at most "
            f"{CRON_JOB_NAME_MAX_CHARACTERS} characters",
            remedy="shorten the agent's name or the id",
        ),
        Rule(
            "runs-have-names-of-their-own",
            Computed(why_not="a run without id is named by its position, which CEL does not know"),
            "ids of schedules and triggers must be unique",
            remedy="change one id",
        ),
    )

    kind: Literal["Agent"]
    """Agent."""
    spec: AgentSpec
    """What it is and needs."""


@finds("backup-has-a-name")
def _long_name_of_backup(agent: Agent) -> Iterator[Found]:
    length = len(agent.metadata.name)
    if agent.spec.storage.backup is not None and length > BACKED_UP_AGENT_NAME_MAX:
        yield Found(("metadata", "name"), str(length))


@finds("analysis-finds-its-pods")
def _long_name_of_analysis(agent: Agent) -> Iterator[Found]:
    length = len(agent.metadata.name)
    if agent.spec.rollout.analysis is not None and length > ANALYSED_NAME_MAX_CHARACTERS:
        yield Found(("metadata", "name"), str(length))


def _runs(agent: Agent) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Name of the object of each run, and where its id stands."""
    job = agent.spec.job
    for field, name, index in run_names(agent.metadata.name, job.schedules, job.triggers):
        yield name, ("spec", "job", field, index, "id")


@finds("runs-have-short-names")
def _long_names_of_runs(agent: Agent) -> Iterator[Found]:
    for name, at in _runs(agent):
        if len(name) > CRON_JOB_NAME_MAX_CHARACTERS:
            yield Found(at, f"{name!r} ({len(name)})")


@finds("runs-have-names-of-their-own")
def _repeated_runs(agent: Agent) -> Iterator[Found]:
    names: set[str] = set()
    for name, at in _runs(agent):
        if name in names:
            yield Found(at, f"{name!r} twice")
        names.add(name)
