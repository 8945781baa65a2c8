"""The JSON Schema of policy reports: the output contract, published in docs/schema/."""

from typing import Any

from holdfast_policies.rule import PROFILES

from holdfast.drift.finding import Severity
from holdfast.operations.policy.model import Verdict
from holdfast.report.documents.policy_json import SCHEMA_VERSION
from holdfast.report.documents.schema_parts import (
    COUNT,
    DIALECT,
    TEXT,
    closed,
    described,
    kube_object,
    listed,
)


def policy_schema() -> dict[str, Any]:
    """The schema (2020-12): these keys and no others."""
    return {
        "$schema": DIALECT,
        "title": "Holdfast policy report",
        "description": "What `holdfast policy check` and `holdfast policy report` write as JSON.",
        **closed(
            schemaVersion={"const": SCHEMA_VERSION},
            title=TEXT,
            profile={"enum": list(PROFILES)},
            complete={
                "type": "boolean",
                "description": "Whether everything was judged and every mandatory rule could "
                "decide; if not, exit code 1 unless something is refused.",
            },
            summary=closed(
                objects=COUNT,
                passed={**COUNT, "description": "Rules passed, counted for each object."},
                mandatory=COUNT,
                advisory=COUNT,
                waived=COUNT,
                undetermined=COUNT,
            ),
            findings=listed("All but what passed.", policy_finding_schema()),
            objects=listed(
                "What was judged; the object is null for the stack as a whole.",
                closed(
                    object=_object_or_stack(), agent=TEXT, passed=listed("Names of rules.", TEXT)
                ),
            ),
            notChecked=listed(
                "What could not be judged, and why.", closed(scope=TEXT, reason=TEXT)
            ),
            remarks=listed("Further lines about the whole.", TEXT),
            _optional={"changes": listed("Of a preview: what would change.", _change())},
        ),
    }


def policy_finding_schema() -> dict[str, Any]:
    """One finding."""
    return closed(
        rule=TEXT,
        verdict={"enum": [each.value for each in Verdict]},
        level={"enum": ["mandatory", "advisory"]},
        severity={"enum": [each.value for each in Severity]},
        object=_object_or_stack(),
        agent=described("Agent that the object belongs to; empty where there is none."),
        path=described("Field of the object; empty for the whole object."),
        expected=TEXT,
        found=described("In words; never the value of a secret."),
        remedy=TEXT,
        waiver=described("Who waived it until when; empty without a waiver."),
        fingerprint=described("Equal for the same demand on the same field in every run."),
        declaredAt=_place(),
    )


def _change() -> dict[str, Any]:
    value = {"type": ["string", "null"]}
    return closed(
        object=kube_object(),
        agent=TEXT,
        operation={"enum": ["create", "update", "replace", "delete", "import"]},
        fields=listed(
            "What differs, masked; empty for objects that come or go.",
            closed(path=TEXT, before=value, after=value, declaredAt=_place()),
        ),
    )


def _place() -> dict[str, Any]:
    place = closed(file=TEXT, line=COUNT, column=COUNT)
    return {
        **place,
        "type": ["object", "null"],
        "description": "Where it is declared, lines and columns from 1; null when no file does.",
    }


def _object_or_stack() -> dict[str, Any]:
    return {**kube_object(), "type": ["object", "null"]}
