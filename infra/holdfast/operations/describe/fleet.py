"""A whole fleet at one moment: every stack, every agent, what is known of it and what is not."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Source
from holdfast.drift.finding import AgentState, DriftReport, Finding, NotChecked, Severity
from holdfast.drift.record.finding_history import FindingHistory
from holdfast.kube.workload_status import Health, HealthVerdict
from holdfast.operations.describe.topology import Graph
from holdfast.operations.policy.heat_map import HeatMap, heat_map
from holdfast.operations.policy.model import PolicyReport, Verdict
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.operations.stack.agent_stack import Suspension


@dataclass(frozen=True)
class Replicas:
    """How many of an agent run; None where that is not known, or where it has none.

    Attributes:
        fewest: As declared.
        most: As declared; another number where something scales it.
        desired: That the cluster is to have now.
        ready: Of these, healthy ones.
    """

    fewest: int | None = None
    most: int | None = None
    desired: int | None = None
    ready: int | None = None


@dataclass(frozen=True)
class OpenDrift:
    """One finding that counts, and since when it stands; None where no history is kept."""

    finding: Finding
    history: FindingHistory | None = None


@dataclass(frozen=True)
class FleetAgent:
    """One agent, or tool server that the stack runs.

    Attributes:
        type: As its manifest says; `tool server` for what is no agent.
        team: AgentTeam that it is a member of; empty without one.
        owner: Who answers for it; empty where nobody is named.
        version: As its manifest declares.
        live_version: As its workload says; empty when it cannot be seen.
        provider: Of its model; empty without one.
        model_name: As the provider calls it.
        drift: The worst first.
        policy: What the rules say of its objects: word of a heat map to how often.
        update: The newest update that changed it; None when none is known.
    """

    name: str
    namespace: str
    type: str
    team: str
    owner: str
    version: str
    live_version: str
    provider: str
    model_name: str
    replicas: Replicas
    sync: AgentState
    health: HealthVerdict
    drift: tuple[OpenDrift, ...] = ()
    policy: Mapping[str, int] = field(default_factory=dict)
    update: UpdateRecord | None = None

    @property
    def group(self) -> str:
        """Whom it is shown with: its team, else its owner."""
        return self.team or self.owner

    @property
    def worst(self) -> Severity | None:
        """Severity of its worst drift."""
        return self.drift[0].finding.severity if self.drift else None

    @property
    def newly_broken(self) -> int:
        """How often what runs of it breaks a rule that its declaration keeps."""
        return sum(len(each.finding.policies) for each in self.drift)

    @property
    def oldest(self) -> FindingHistory | None:
        """The history of its drift that stands longest; None where that is not known."""
        seen = [each.history for each in self.drift if each.history is not None]
        return max(seen, key=lambda each: each.age_seconds, default=None)

    @property
    def concerns(self) -> tuple[str, ...]:
        """What needs attention: `drift`, `health`, `policy`, `unknown`."""
        health = self.health.health
        found = {
            "drift": self.sync is AgentState.OUT_OF_SYNC,
            "health": health in (Health.DEGRADED, Health.PROGRESSING),
            "policy": bool(self.policy.get("refused")),
            "unknown": self.sync is AgentState.UNKNOWN or health is Health.UNKNOWN,
        }
        return tuple(name for name, is_so in found.items() if is_so)

    @property
    def urgency(self) -> tuple[int, int, int, int, str, str]:
        """Sorts the worst first, then by namespace and name."""
        worst = self.worst.rank if self.worst else len(Severity)
        health = -list(Health).index(self.health.health)
        refused = -self.policy.get("refused", 0)
        return (worst, health, refused, -len(self.concerns), self.namespace, self.name)


@dataclass(frozen=True)
class StackStatus:
    """One stack, or one agent of it.

    Attributes:
        update: The last good update; None without one.
        agents: Its agents, and the tool servers that it runs.
        drift: What differs and belongs to none of them; nothing where one agent was asked for.
        not_checked: What could not be read, and why.
        suspension: Why its Git loop changes nothing; None while that may act, or there is none.
        suspension_problem: Why that is not known; empty when it is.
    """

    stack: str
    update: UpdateRecord | None
    agents: tuple[FleetAgent, ...]
    drift: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    suspension: Suspension | None = None
    suspension_problem: str = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All drift: that of the agents, and that of none of them."""
        own = (each.finding for agent in self.agents for each in agent.drift)
        return (*own, *self.drift)


@dataclass(frozen=True)
class FleetStack:
    """One stack.

    Attributes:
        profile: Policy profile by which it is judged.
        cluster: What its file calls its cluster; empty when it does not.
        looked_at: Where sync is known from, in words; empty when nobody has looked.
        drift: What the scan said; an empty report when there was none.
        context: When that scan was, and what is known beside it.
        policy: What the rules say of what is declared.
        updates: Oldest first.
        not_checked: Everything that could not be checked, the scan's own entries included.
        notes: What is to be known beside the report, such as damaged lines of the history.
    """

    name: str
    profile: str
    cluster: str
    looked_at: str
    agents: tuple[FleetAgent, ...]
    drift: DriftReport
    context: ReportContext
    policy: PolicyReport
    graph: Graph
    updates: tuple[UpdateRecord, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def update(self) -> UpdateRecord | None:
        """The last good update; None without one."""
        return next((each for each in reversed(self.updates) if each.has_succeeded), None)

    @cached_property
    def sync(self) -> Counter[AgentState]:
        """How many agents are in each state."""
        return Counter(each.sync for each in self.agents)

    @cached_property
    def health(self) -> Counter[Health]:
        """The same by health."""
        return Counter(each.health.health for each in self.agents)

    @cached_property
    def severities(self) -> Counter[Severity]:
        """How much drift there is of each severity, that of no agent included."""
        return Counter(each.severity for each in self.drift.drift)

    @property
    def refused(self) -> int:
        """How often a mandatory rule is broken by what is declared."""
        return sum(each.refuses for each in self.policy.findings)

    @property
    def warned(self) -> int:
        """How often an advisory rule is."""
        return self.policy.counts[Verdict.VIOLATED] - self.refused

    @property
    def newly_broken(self) -> int:
        """How often what runs breaks a rule that the declaration keeps."""
        return sum(len(each.policies) for each in self.drift.drift)

    def heat_map(self, *, by_group: bool = False) -> HeatMap:
        """Rules against agents, or against the groups that they are shown in."""
        groups = {each.name: each.group for each in self.agents} if by_group else None
        live = [(rule, each.agent) for each in self.drift.drift for rule in each.policies]
        return heat_map(self.policy.findings, self.policy.objects, live=live, groups=groups)


@dataclass(frozen=True)
class FleetReport:
    """Everything.

    Attributes:
        project: Name of the project.
        made_at: RFC 3339 time of the report.
        source: The commit of the files that say what is declared; None where they are in none.
        stacks: In the order in which they were asked for.
    """

    project: str
    made_at: str
    source: Source | None
    stacks: tuple[FleetStack, ...]

    @property
    def agents(self) -> tuple[FleetAgent, ...]:
        """Of all stacks."""
        return tuple(agent for stack in self.stacks for agent in stack.agents)

    @property
    def is_complete(self) -> bool:
        """Whether everything was checked."""
        return not any(stack.not_checked for stack in self.stacks)


def worst_first(agents: Iterable[FleetAgent]) -> list[FleetAgent]:
    """Agents in the order in which somebody should check them."""
    return sorted(agents, key=lambda each: each.urgency)


def grouped(agents: Iterable[FleetAgent]) -> list[tuple[str, list[FleetAgent]]]:
    """Agents by team, the team with the worst agent first; within each the worst first."""
    groups: dict[str, list[FleetAgent]] = {}
    for each in worst_first(agents):
        groups.setdefault(each.group, []).append(each)
    return list(groups.items())


def open_drift(report: DriftReport, context: ReportContext) -> dict[str, tuple[OpenDrift, ...]]:
    """Agent to its drift, the worst first; the empty name for what belongs to no agent."""
    found: dict[str, list[OpenDrift]] = {}
    for each in sorted(report.drift, key=lambda one: (one.severity.rank, one.sort_key)):
        found.setdefault(each.agent, []).append(OpenDrift(each, context.history_of(each)))
    return {agent: tuple(entries) for agent, entries in found.items()}
