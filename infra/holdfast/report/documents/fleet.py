"""A fleet as JSON, `holdfast.dev/fleet/v1`: all that its page shows; written and published."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from holdfast.drift.finding import AgentState, Severity
from holdfast.kube.workload_status import Health
from holdfast.operations.describe.fleet import (
    FleetAgent,
    FleetReport,
    FleetStack,
    OpenDrift,
    open_drift,
)
from holdfast.operations.policy.heat_map import ORDER
from holdfast.report.documents.drift import FindingPart, SyncCounts, finding_parts
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.parts import (
    Count,
    NotCheckedPart,
    Part,
    PlacePart,
    one_of,
    schema_of,
)
from holdfast.report.documents.policy import PolicyFindingPart, Profile
from holdfast.report.documents.stacks import HealthCounts
from holdfast.report.documents.topology import TopologyPart
from holdfast.report.documents.updates import UpdatePart
from holdfast.report.text.fleet_summary import verdict_of

SCHEMA_VERSION: Final = "holdfast.dev/fleet/v1"

VerdictWord = Annotated[str, one_of(*ORDER)]
CellState = Annotated[str, one_of(*ORDER, "")]
Concern = Annotated[str, one_of("drift", "health", "policy", "unknown")]
VerdictCounts = Annotated[
    dict[str, Count], Meta(extra_json_schema={"propertyNames": {"enum": list(ORDER)}})
]


class FleetVerdictPart(Part):
    """The whole in a word and in a sentence."""

    word: str
    sentence: str


class SourcePart(Part):
    """The commit of the files that declare the fleet.

    Attributes:
        changed_files: Files of the project that are not as committed.
    """

    commit: str
    author: str
    author_time: str
    subject: str
    changed_files: list[str]


class DriftCounts(Part):
    """How many findings of each severity count as drift."""

    critical: Count
    high: Count
    medium: Count
    low: Count


class PolicyCounts(Part):
    """How often rules say what.

    Attributes:
        refused: Mandatory rules broken by what is declared.
        newly_broken: Rules broken by what runs alone.
    """

    refused: Count
    warned: Count
    passed: Count
    newly_broken: Count


class CountsPart(Part):
    """The stack in figures."""

    sync: SyncCounts
    health: HealthCounts
    drift: DriftCounts
    policy: PolicyCounts


class VersionPart(Part):
    """Versions of an agent."""

    declared: str
    live: str | None


class ModelPart(Part):
    """The model of an agent; empty texts without one."""

    provider: str
    name: str


class ReplicasPart(Part):
    """How many replicas there may be, should be, and are."""

    fewest: Count | None
    most: Count | None
    desired: Count | None
    ready: Count | None


class AgentDriftPart(Part):
    """The drift of one agent."""

    findings: Count
    worst: Severity | None
    since: str | None


class FleetAgentPart(Part):
    """One agent, or a tool server.

    Attributes:
        type: As its manifest says; `tool server` for what is no agent.
        team: AgentTeam that it is a member of; empty without one.
        reason: Why its health is no better.
        concerns: What needs attention.
        policy: What the rules say of its objects, and how often.
    """

    name: str
    namespace: str
    type: str
    team: str
    owner: str
    version: VersionPart
    model: ModelPart
    replicas: ReplicasPart
    sync: AgentState
    health: Health
    reason: str
    concerns: list[Concern]
    drift: AgentDriftPart
    policy: VerdictCounts
    commit: str | None
    updated_at: str | None

    @classmethod
    def of(cls, agent: FleetAgent) -> "FleetAgentPart":
        """An agent as data."""
        update = agent.update
        return cls(
            agent.name,
            agent.namespace,
            agent.type,
            agent.team,
            agent.owner,
            VersionPart(agent.version, agent.live_version or None),
            ModelPart(agent.provider, agent.model_name),
            ReplicasPart.copy_of(agent.replicas),
            agent.sync,
            agent.health.health,
            agent.health.reason,
            list(agent.concerns),
            AgentDriftPart(
                len(agent.drift), agent.worst, agent.oldest.since if agent.oldest else None
            ),
            dict(sorted(agent.policy.items())),
            update.commit if update else None,
            update.started_at if update else None,
        )


class FleetFindingPart(FindingPart, kw_only=True):
    """A finding, and since when it stands.

    Attributes:
        since: RFC 3339; null without a history.
    """

    since: str | None
    age_seconds: Count | None
    times_seen: Count | None
    declared_at: PlacePart | None

    @classmethod
    def of(cls, drift: OpenDrift, stack: FleetStack) -> "FleetFindingPart":
        """A finding of a stack as data."""
        seen, place = drift.history, stack.context.location_of(drift.finding)
        return cls(
            **finding_parts(drift.finding),
            since=seen.since if seen else None,
            age_seconds=seen.age_seconds if seen else None,
            times_seen=seen.count if seen else None,
            declared_at=PlacePart.copy_of(place) if place else None,
        )


class CellPart(Part):
    """What one rule says of one agent."""

    state: CellState
    count: Count


class HeatRowPart(Part):
    """One rule, with a cell for each agent."""

    rule: str
    cells: list[CellPart]


class HeatMapPart(Part):
    """Rules by agents.

    Attributes:
        agents: Columns; the empty name for what belongs to no agent.
        rows: The worst first; a cell for each agent.
    """

    agents: list[str]
    left_out: Count = msgspec.field(name="agentsLeftOut")
    rows: list[HeatRowPart] = msgspec.field(name="rules")


class FleetStackPart(Part):
    """One stack.

    Attributes:
        looked_at: Where sync is known from; empty when it was not scanned.
        observed_at: RFC 3339 time of the scan; empty when it is not known.
        not_checked: What could not be checked, and why.
        agents: Agents and tool servers that the stack runs, by name.
        drift: By agent, the worst first.
        policy: All that the rules say but passed.
        updates: The newest first.
    """

    name: str
    cluster: str
    profile: Profile
    looked_at: str
    observed_at: str
    not_checked: list[NotCheckedPart]
    counts: CountsPart
    agents: list[FleetAgentPart]
    drift: list[FleetFindingPart]
    policy: list[PolicyFindingPart]
    heat_map: HeatMapPart
    topology: TopologyPart
    updates: list[UpdatePart]

    @classmethod
    def of(cls, stack: FleetStack) -> "FleetStackPart":
        """A stack as data."""
        drift = open_drift(stack.drift, stack.context).values()
        return cls(
            stack.name,
            stack.cluster,
            stack.profile,
            stack.looked_at,
            stack.context.observed_at,
            [NotCheckedPart.copy_of(each) for each in stack.not_checked],
            _counts(stack),
            [FleetAgentPart.of(each) for each in stack.agents],
            [FleetFindingPart.of(each, stack) for group in drift for each in group],
            [PolicyFindingPart.of(each) for each in stack.policy.findings],
            HeatMapPart.copy_of(stack.heat_map()),
            TopologyPart.of(stack.graph),
            [UpdatePart.copy_of(each) for each in reversed(stack.updates)],
        )


class FleetDocument(Part):
    """What `holdfast status -s STACK -o fleet` prints.

    Attributes:
        made_at: RFC 3339.
        complete: Whether everything was checked.
        source: The commit of the files that declare it; null without one.
        stacks: In the order in which they were asked for.
    """

    schema_version: Literal["holdfast.dev/fleet/v1"]
    project: str
    made_at: str
    complete: bool
    verdict: FleetVerdictPart
    source: SourcePart | None
    stacks: list[FleetStackPart]


def fleet_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    return schema_of(
        "Holdfast fleet report", "What `holdfast status -s STACK -o fleet` prints.", FleetDocument
    )


def fleet_json(report: FleetReport) -> str:
    """The whole report, one document, ending in a line end."""
    verdict, source = verdict_of(report.stacks), report.source
    commit = source.commit if source else None
    return json_text(
        FleetDocument(
            SCHEMA_VERSION,
            report.project,
            report.made_at,
            report.is_complete,
            FleetVerdictPart.copy_of(verdict),
            SourcePart(
                commit.name,
                commit.author,
                commit.author_time,
                commit.subject,
                list(source.changed),
            )
            if source and commit
            else None,
            [FleetStackPart.of(stack) for stack in report.stacks],
        )
    )


def _counts(stack: FleetStack) -> CountsPart:
    severities = (each for each in Severity if each is not Severity.INFO)
    return CountsPart(
        SyncCounts.of(stack.sync),
        HealthCounts.of(stack.health),
        msgspec.convert({each.value: stack.severities[each] for each in severities}, DriftCounts),
        PolicyCounts(stack.refused, stack.warned, stack.policy.passed, stack.newly_broken),
    )
