"""Several stacks as JSON, `holdfast.dev/drift-stacks/v1`, and its JSON Schema."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from holdfast.drift.cause.stack_causes import AgentOverview, SharedCause, StackDrift, shared_causes
from holdfast.drift.finding import AgentState
from holdfast.kube.paths import format_path
from holdfast.kube.workload_status import Health
from holdfast.report.documents.drift_json import drift_document, object_document
from holdfast.report.documents.drift_schema import drift_schema
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.schema_parts import (
    COUNT,
    DIALECT,
    TEXT,
    closed,
    described,
    kube_object,
    listed,
)

SCHEMA_VERSION: Final = "holdfast.dev/drift-stacks/v1"


def stacks_json(stacks: Sequence[StackDrift]) -> str:
    """The whole report, one document, ending in a line end."""
    agents = [agent for each in stacks for agent in each.agents]
    teams = sorted({agent.team for agent in agents})
    return json_text(
        {
            "schemaVersion": SCHEMA_VERSION,
            "complete": all(each.report.is_complete for each in stacks),
            "counts": _counts(agents),
            "teams": {
                team: _counts(agent for agent in agents if agent.team == team) for team in teams
            },
            "causes": [_cause(each) for each in shared_causes(stacks)],
            "stacks": [_stack(each) for each in stacks],
        }
    )


def _counts(agents: Iterable[AgentOverview]) -> dict[str, Any]:
    each = list(agents)
    sync, health = Counter(one.sync for one in each), Counter(one.health.health for one in each)
    return {
        "sync": {state.value: sync[state] for state in AgentState},
        "health": {state.value: health[state] for state in Health},
    }


def _cause(each: SharedCause) -> dict[str, Any]:
    return {
        "summary": each.summary,
        "time": each.first,
        "stacks": list(each.stacks),
        "findings": [
            {
                "stack": stack,
                "object": object_document(finding.ref),
                "path": format_path(finding.path),
            }
            for stack, finding in each.findings
        ],
    }


def _stack(each: StackDrift) -> dict[str, Any]:
    return {
        "stack": each.stack,
        "agents": [
            {
                "name": agent.name,
                "team": agent.team,
                "sync": agent.sync.value,
                "health": agent.health.health.value,
                "reason": agent.health.reason,
                "findings": agent.findings,
            }
            for agent in each.agents
        ],
        "report": drift_document(each.report),
    }


def stacks_schema() -> dict[str, Any]:
    """The schema (2020-12): these keys and no others."""
    report = {key: value for key, value in drift_schema().items() if key != "$schema"}
    states = closed(
        sync=closed(**{state.value: COUNT for state in AgentState}),
        health=closed(**{state.value: COUNT for state in Health}),
    )
    return {
        "$schema": DIALECT,
        "title": "Holdfast drift of several stacks",
        "description": "What `holdfast drift -s A -s B -o json` prints.",
        **closed(
            schemaVersion={"const": SCHEMA_VERSION},
            complete={"type": "boolean", "description": "Whether every stack's report is."},
            counts={**states, "description": "Agents of all stacks in each state."},
            teams={
                "type": "object",
                "description": "The same by team; the empty name for agents of none.",
                "additionalProperties": states,
            },
            causes=listed(
                "What one hand did on more than one stack.",
                closed(
                    summary=TEXT,
                    time=described("When it was first done, RFC 3339."),
                    stacks=listed("Where.", TEXT),
                    findings=listed(
                        "Which findings.", closed(stack=TEXT, object=kube_object(), path=TEXT)
                    ),
                ),
            ),
            stacks=listed(
                "In the order in which they were named.",
                closed(stack=TEXT, agents=listed("Every agent.", _agent_schema()), report=report),
            ),
        ),
    }


def _agent_schema() -> dict[str, Any]:
    return closed(
        name=TEXT,
        team=described("Who answers for it; empty for agents of no team."),
        sync={"enum": [state.value for state in AgentState]},
        health={"enum": [state.value for state in Health]},
        reason=described("Why its workloads are no better; empty when they are healthy."),
        findings={**COUNT, "description": "How many findings of it count as drift."},
    )
