"""The JSON Schema of the report of a fleet: the output contract, published in docs/schema/."""

from typing import Any, Final

from holdfast_policies.rule import PROFILES

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import AgentState, Severity
from holdfast.kube.workload_status import Health
from holdfast.operations.policy.heat_map import ORDER
from holdfast.report.documents.drift_schema import drift_finding_schema
from holdfast.report.documents.fleet_json import SCHEMA_VERSION
from holdfast.report.documents.policy_schema import policy_finding_schema
from holdfast.report.documents.schema_parts import COUNT, DIALECT, TEXT, closed, described, listed

_MAYBE_TEXT: Final = {"type": ["string", "null"]}
_MAYBE_COUNT: Final = {"type": ["integer", "null"], "minimum": 0}


def fleet_schema() -> dict[str, Any]:
    """The schema (2020-12): these keys and no others."""
    return {
        "$schema": DIALECT,
        "title": "Holdfast fleet report",
        "description": "What `holdfast report -s STACK -o json` prints.",
        **closed(
            schemaVersion={"const": SCHEMA_VERSION},
            project=TEXT,
            madeAt=described("RFC 3339."),
            complete={"type": "boolean", "description": "Whether everything was looked at."},
            verdict=closed(word=TEXT, sentence=TEXT),
            source={
                **closed(
                    commit=TEXT,
                    author=TEXT,
                    authorTime=TEXT,
                    subject=TEXT,
                    changedFiles=listed("Files of the project that are not as committed.", TEXT),
                ),
                "type": ["object", "null"],
                "description": "The commit of the files that declare it; null without one.",
            },
            stacks=listed("In the order in which they were asked for.", _stack()),
        ),
    }


def _stack() -> dict[str, Any]:
    return closed(
        name=TEXT,
        cluster=TEXT,
        profile={"enum": list(PROFILES)},
        lookedAt=described("Where sync is known from; empty when nobody has looked."),
        observedAt=described("RFC 3339 time of the scan; empty when it is not known."),
        notChecked=listed("What could not be looked at, and why.", closed(scope=TEXT, reason=TEXT)),
        counts=_counts(),
        agents=listed("Agents and tool servers that the stack runs, by name.", _agent()),
        drift=listed(
            "By agent, the worst first.",
            drift_finding_schema(
                {
                    "since": {**_MAYBE_TEXT, "description": "RFC 3339; null without a history."},
                    "ageSeconds": _MAYBE_COUNT,
                    "timesSeen": _MAYBE_COUNT,
                    "declaredAt": {
                        **closed(file=TEXT, line=COUNT, column=COUNT),
                        "type": ["object", "null"],
                    },
                }
            ),
        ),
        policy=listed("All that the rules say but passed.", policy_finding_schema()),
        heatMap=_heat_map(),
        topology=_topology(),
        updates=listed("The newest first.", _update()),
    )


def _counts() -> dict[str, Any]:
    severities = [each.value for each in Severity if each is not Severity.INFO]
    return closed(
        sync=closed(**{each.value: COUNT for each in AgentState}),
        health=closed(**{each.value: COUNT for each in Health}),
        drift=closed(**dict.fromkeys(severities, COUNT)),
        policy=closed(
            refused={**COUNT, "description": "Mandatory rules broken by what is declared."},
            warned=COUNT,
            passed=COUNT,
            newlyBroken={**COUNT, "description": "Rules broken by what runs alone."},
        ),
    )


def _heat_map() -> dict[str, Any]:
    cell = closed(state={"enum": [*ORDER, ""]}, count=COUNT)
    return closed(
        agents=listed("Columns; the empty name for what belongs to no agent.", TEXT),
        agentsLeftOut=COUNT,
        rules=listed(
            "The worst first; a cell for each agent.",
            closed(rule=TEXT, cells={"type": "array", "items": cell}),
        ),
    )


def _agent() -> dict[str, Any]:
    return closed(
        name=TEXT,
        namespace=TEXT,
        type=described("As its manifest says; `tool server` for what is no agent."),
        team=described("AgentTeam that it is a member of; empty without one."),
        owner=TEXT,
        version=closed(declared=TEXT, live=_MAYBE_TEXT),
        model={**closed(provider=TEXT, name=TEXT), "description": "Empty texts without a model."},
        replicas=closed(
            fewest=_MAYBE_COUNT, most=_MAYBE_COUNT, desired=_MAYBE_COUNT, ready=_MAYBE_COUNT
        ),
        sync={"enum": [each.value for each in AgentState]},
        health={"enum": [each.value for each in Health]},
        reason=described("Why it is no better."),
        concerns=listed(
            "What somebody should look at.", {"enum": ["drift", "health", "policy", "unknown"]}
        ),
        drift=closed(
            findings=COUNT,
            worst={"enum": [*(each.value for each in Severity), None]},
            since=_MAYBE_TEXT,
        ),
        policy={
            "type": "object",
            "description": "What the rules say of its objects, and how often.",
            "propertyNames": {"enum": list(ORDER)},
            "additionalProperties": COUNT,
        },
        commit=_MAYBE_TEXT,
        updatedAt=_MAYBE_TEXT,
    )


def _topology() -> dict[str, Any]:
    node = closed(kind=TEXT, namespace=TEXT, name=TEXT)
    edge = closed(**{"from": node, "to": node}, relation=TEXT, field=TEXT, file=TEXT, line=COUNT)
    return closed(nodes=listed("Sorted.", node), edges=listed("Sorted.", edge))


def _update() -> dict[str, Any]:
    """As `holdfast history -o json` prints it."""
    known: dict[str, Any] = {
        "isDirty": {"type": "boolean"},
        "seconds": {"type": "number", "minimum": 0},
        "changes": {"type": "object", "additionalProperties": COUNT},
        "agents": {"type": ["array", "null"], "items": TEXT},
    }
    names = [_camel(name) for name in UpdateRecord.__struct_fields__ if name != "stack"]
    return closed(**{name: known.get(name, TEXT) for name in names})


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)
