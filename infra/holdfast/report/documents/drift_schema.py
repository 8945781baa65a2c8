"""The JSON Schema of the drift report: the output contract, published in docs/schema/."""

from collections.abc import Mapping
from typing import Any

from holdfast.drift.finding import (
    PROBES,
    AgentState,
    DriftClass,
    EvidenceSource,
    NextUpdate,
    Severity,
)
from holdfast.report.documents.drift_json import SCHEMA_VERSION
from holdfast.report.documents.schema_parts import (
    COUNT,
    DIALECT,
    TEXT,
    closed,
    described,
    kube_object,
    listed,
)


def drift_schema() -> dict[str, Any]:
    """The schema (2020-12): these keys and no others."""
    return {
        "$schema": DIALECT,
        "title": "Holdfast drift report",
        "description": "What `holdfast drift -o json` prints.",
        **closed(
            schemaVersion={"const": SCHEMA_VERSION},
            complete={
                "type": "boolean",
                "description": "Whether everything declared was looked at; if not, exit code 1.",
            },
            notChecked=listed(
                "What could not be looked at, and why.", closed(scope=TEXT, reason=TEXT)
            ),
            findings=listed("Sorted by namespace, kind, name and path.", drift_finding_schema()),
            _optional={
                "causes": listed(
                    "What explains several findings at once.",
                    closed(
                        summary=TEXT,
                        remedy=described("What to do about all of them; may be empty."),
                        findings=listed("Which findings.", closed(object=kube_object(), path=TEXT)),
                    ),
                ),
                "agents": _agents(),
                "ignored": listed("Rules on expected drift that were in force.", _ignored()),
                "layers": listed(
                    "Of a stack: which detectors ran.",
                    closed(
                        name={"enum": ["holdfast", "pulumi", PROBES]},
                        ran={"type": "boolean"},
                        detail=described("What it looked at, or why it was not asked."),
                    ),
                ),
            },
        ),
    }


def drift_finding_schema(more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One finding, with what a report that holds more says of it besides."""
    return closed(
        **(more or {}),
        object=kube_object(),
        agent=described("Agent that the object belongs to; empty where there is none."),
        **{"class": {"enum": [each.value for each in DriftClass]}},
        path=described(
            "Dotted field path; items of keyed lists as [name=agent], of other lists as [0]; "
            "empty for whole objects."
        ),
        desired={"description": "Expected value, masked; null where nothing should be."},
        live={"description": "Value found, masked; null where nothing is."},
        severity={
            "enum": [each.value for each in Severity],
            "description": "A finding of severity info is a remark, not drift.",
        },
        policies=listed("Rules that this breaks and the declaration keeps.", TEXT),
        actors=listed(
            "Who may have done it, the likeliest first; empty when nothing is known.", _actor()
        ),
        seenBy=listed("Which detectors report it.", {"enum": ["holdfast", "pulumi"]}),
        _optional={
            "about": {
                "const": "record",
                "description": "It is the stack's record that differs: a refresh rewrote it.",
            },
            "nextUpdate": {
                "enum": [each.value for each in NextUpdate],
                "description": "What the next update that changes the object does about it.",
            },
        },
    )


def _actor() -> dict[str, Any]:
    return closed(
        manager=described("Field manager: chosen by the client."),
        operation=described("Apply or Update."),
        subresource=TEXT,
        time=described("RFC 3339."),
        user=described("From the audit log; else empty."),
        source={"enum": [each.value for each in EvidenceSource]},
        _optional={
            "verb": described("Of the request, from the audit log."),
            "userAgent": described("Client, from the audit log."),
            "sourceAddress": described("Address of the client, from the audit log."),
        },
    )


def _ignored() -> dict[str, Any]:
    finding = closed(
        object=kube_object(),
        path=TEXT,
        severity={"enum": [each.value for each in Severity]},
        **{"class": {"enum": [each.value for each in DriftClass]}},
    )
    return closed(
        rule=described("Where it is written."),
        reason=TEXT,
        owner=described("Team that answers for it."),
        expires=described("Its last day; empty where it has no end."),
        matches={"type": "integer", "description": "Findings that it took out."},
        findings=listed("What these are about.", finding),
    )


def _agents() -> dict[str, Any]:
    states = closed(**{state.value: COUNT for state in AgentState})
    return closed(
        counts={**states, "description": "Declared agents in each state."},
        teams={
            "type": "object",
            "description": "The same by team; the empty name for agents of none.",
            "additionalProperties": states,
        },
        notSynced=listed(
            "Agents that are out of sync, or of which a part could not be read.",
            closed(
                name=TEXT,
                team=TEXT,
                state={"enum": [state.value for state in AgentState]},
                findings=COUNT,
            ),
        ),
    )
