"""The JSON Schema of the drift report: the output contract, published in docs/schema/."""

from collections.abc import Mapping
from typing import Any, Final

from holdfast.drift.finding import PROBES, AgentState, DriftClass, EvidenceSource, Severity
from holdfast.report.drift_json import SCHEMA_VERSION

_TEXT: Final = {"type": "string"}


def drift_schema() -> dict[str, Any]:
    """The schema (2020-12): these keys and no others."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Holdfast drift report",
        "description": "What `holdfast drift -o json` prints.",
        **_closed(
            schemaVersion={"const": SCHEMA_VERSION},
            complete={
                "type": "boolean",
                "description": "Whether everything declared was looked at; if not, exit code 1.",
            },
            notChecked=_list(
                "What could not be looked at, and why.", _closed(scope=_TEXT, reason=_TEXT)
            ),
            findings=_list("Sorted by namespace, kind, name and path.", _finding()),
            _optional={
                "causes": _list(
                    "What explains several findings at once.",
                    _closed(
                        summary=_TEXT,
                        remedy=_text("What to do about all of them; may be empty."),
                        findings=_list("Which findings.", _closed(object=_object(), path=_TEXT)),
                    ),
                ),
                "agents": _agents(),
                "ignored": _list(
                    "Rules on expected drift that were in force.",
                    _closed(
                        rule=_text("Where it is written."),
                        reason=_TEXT,
                        owner=_text("Team that answers for it."),
                        expires=_text("Its last day; empty where it has no end."),
                        matches={"type": "integer", "description": "Findings that it took out."},
                        findings=_list(
                            "What these are about.",
                            _closed(
                                object=_object(),
                                path=_TEXT,
                                severity={"enum": [each.value for each in Severity]},
                                **{"class": {"enum": [each.value for each in DriftClass]}},
                            ),
                        ),
                    ),
                ),
                "layers": _list(
                    "Of a stack: which detectors ran.",
                    _closed(
                        name={"enum": ["holdfast", "pulumi", PROBES]},
                        ran={"type": "boolean"},
                        detail=_text("What it looked at, or why it was not asked."),
                    ),
                ),
            },
        ),
    }


def _finding() -> dict[str, Any]:
    return _closed(
        object=_object(),
        agent=_text("Agent that the object belongs to; empty where there is none."),
        **{"class": {"enum": [each.value for each in DriftClass]}},
        path=_text(
            "Dotted field path; items of keyed lists as [name=agent], of other lists as [0]; "
            "empty for whole objects."
        ),
        desired={"description": "Expected value, masked; null where nothing should be."},
        live={"description": "Value found, masked; null where nothing is."},
        severity={
            "enum": [each.value for each in Severity],
            "description": "A finding of severity info is a remark, not drift.",
        },
        policies=_list("Rules that this breaks and the declaration keeps.", _TEXT),
        actors=_list(
            "Who may have done it, the likeliest first; empty when nothing is known.",
            _closed(
                manager=_text("Field manager: chosen by the client."),
                operation=_text("Apply or Update."),
                subresource=_TEXT,
                time=_text("RFC 3339."),
                user=_text("From the audit log; else empty."),
                source={"enum": [each.value for each in EvidenceSource]},
                _optional={
                    "verb": _text("Of the request, from the audit log."),
                    "userAgent": _text("Client, from the audit log."),
                    "sourceAddress": _text("Address of the client, from the audit log."),
                },
            ),
        ),
        seenBy=_list("Which detectors report it.", {"enum": ["holdfast", "pulumi"]}),
        _optional={
            "about": {
                "const": "record",
                "description": "It is the stack's record that differs: a refresh rewrote it.",
            }
        },
    )


def _agents() -> dict[str, Any]:
    count = {"type": "integer", "minimum": 0}
    states = _closed(**{state.value: count for state in AgentState})
    return _closed(
        counts={**states, "description": "Declared agents in each state."},
        teams={
            "type": "object",
            "description": "The same by team; the empty name for agents of none.",
            "additionalProperties": states,
        },
        notSynced=_list(
            "Agents that are out of sync, or of which a part could not be read.",
            _closed(
                name=_TEXT,
                team=_TEXT,
                state={"enum": [state.value for state in AgentState]},
                findings=count,
            ),
        ),
    )


def _object() -> dict[str, Any]:
    return _closed(apiVersion=_TEXT, kind=_TEXT, namespace=_TEXT, name=_TEXT)


def _text(description: str) -> dict[str, Any]:
    return {**_TEXT, "description": description}


def _list(description: str, items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": items}


def _closed(
    _optional: Mapping[str, Any] | None = None,
    **required: Any,  # noqa: ANN401  (JSON Schema)
) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**required, **(_optional or {})},
    }
