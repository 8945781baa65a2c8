"""Several stacks as JSON, `holdfast.dev/drift-stacks/v1`: written and published."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import msgspec

from holdfast.drift.cause.stack_causes import AgentOverview, SharedCause, StackDrift, shared_causes
from holdfast.drift.finding import AgentState
from holdfast.kube.paths import format_path
from holdfast.kube.workload_status import Health
from holdfast.report.documents.drift import DriftDocument, SyncCounts, drift_document
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.parts import Count, ObjectPart, Part, schema_of

SCHEMA_VERSION: Final = "holdfast.dev/drift-stacks/v1"


class HealthCounts(Part, rename="pascal"):
    """How many agents are in each state of health."""

    healthy: Count
    progressing: Count
    unknown: Count
    degraded: Count

    @classmethod
    def of(cls, states: Counter[Health]) -> "HealthCounts":
        """Counted states as data."""
        return msgspec.convert({state.value: states[state] for state in Health}, cls)


class StateCounts(Part):
    """How many agents are in each state."""

    sync: SyncCounts
    health: HealthCounts

    @classmethod
    def of(cls, agents: Iterable[AgentOverview]) -> "StateCounts":
        """The counts of some agents."""
        each = list(agents)
        return cls(
            SyncCounts.of(Counter(one.sync for one in each)),
            HealthCounts.of(Counter(one.health.health for one in each)),
        )


class StackFindingPart(Part):
    """Which finding of which stack is meant."""

    stack: str
    object: ObjectPart
    path: str


class SharedCausePart(Part):
    """What one client did on more than one stack.

    Attributes:
        time: When it was first done, RFC 3339.
        stacks: Where.
        findings: Which findings.
    """

    summary: str
    time: str
    stacks: list[str]
    findings: list[StackFindingPart]

    @classmethod
    def of(cls, cause: SharedCause) -> "SharedCausePart":
        """A cause as data."""
        findings = [
            StackFindingPart(stack, ObjectPart.copy_of(finding.ref), format_path(finding.path))
            for stack, finding in cause.findings
        ]
        return cls(cause.summary, cause.first, list(cause.stacks), findings)


class AgentPart(Part):
    """One agent.

    Attributes:
        team: Who answers for it; empty for agents of no team.
        reason: Why its workloads are no better; empty when they are healthy.
        findings: How many findings of it count as drift.
    """

    name: str
    team: str
    sync: AgentState
    health: Health
    reason: str
    findings: Count

    @classmethod
    def of(cls, agent: AgentOverview) -> "AgentPart":
        """An agent as data."""
        health = agent.health
        return cls(agent.name, agent.team, agent.sync, health.health, health.reason, agent.findings)


class StackPart(Part):
    """One stack.

    Attributes:
        agents: Every agent.
    """

    stack: str
    agents: list[AgentPart]
    report: DriftDocument


class StacksDocument(Part):
    """What `holdfast drift -s A -s B -o json` prints.

    Attributes:
        complete: Whether every stack's report is.
        counts: Agents of all stacks in each state.
        teams: The same by team; the empty name for agents of none.
        causes: What one client did on more than one stack.
        stacks: In the order in which they were named.
    """

    schema_version: Literal["holdfast.dev/drift-stacks/v1"]
    complete: bool
    counts: StateCounts
    teams: dict[str, StateCounts]
    causes: list[SharedCausePart]
    stacks: list[StackPart]


def stacks_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    return schema_of(
        "Holdfast drift of several stacks",
        "What `holdfast drift -s A -s B -o json` prints.",
        StacksDocument,
    )


def stacks_json(stacks: Sequence[StackDrift]) -> str:
    """The whole report, one document, ending in a line end."""
    agents = [agent for each in stacks for agent in each.agents]
    teams = sorted({agent.team for agent in agents})
    return json_text(
        StacksDocument(
            SCHEMA_VERSION,
            all(each.report.is_complete for each in stacks),
            StateCounts.of(agents),
            {team: StateCounts.of(one for one in agents if one.team == team) for team in teams},
            [SharedCausePart.of(each) for each in shared_causes(stacks)],
            [
                StackPart(
                    each.stack,
                    [AgentPart.of(agent) for agent in each.agents],
                    drift_document(each.report),
                )
                for each in stacks
            ],
        )
    )
