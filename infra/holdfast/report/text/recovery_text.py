"""A recovered state and what differs from it, as text for people and JSON for programs."""

from typing import Any, Final

from holdfast.operations.deploy.recovery import RecoveryResult
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/recovery/v1"
_MOST_LINES: Final = 10


def recovery_json(stack: str, result: RecoveryResult) -> str:
    """The whole result, one document, ending in a line end."""
    document: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "stack": stack,
        "source": result.source,
        "recovered": result.recovered,
        "missing": list(result.missing),
        "leftOut": list(result.left_out),
        "wouldChange": list(result.would_change),
        "drift": list(result.drift),
        "notChecked": list(result.not_checked),
    }
    return json_text(document)


def recovery_text(stack: str, result: RecoveryResult) -> str:
    """Some lines a topic, then one that sums up; ending in a line end."""
    created = {f"create {each}" for each in result.missing}
    # What is not there is said once, not as a plan and as drift as well.
    topics = (
        ("not in the cluster: {}; the next update creates it", result.missing, set[str]()),
        ("left out: {}; the next update takes it in", result.left_out, set[str]()),
        ("a preview would {}", result.would_change, created),
        ("drift: {}", result.drift, set(result.missing)),
        ("not checked: {}", result.not_checked, set[str]()),
    )
    lines: list[str] = []
    for form, found, known in topics:
        shown = [form.format(each) for each in found if each not in known]
        lines += shown[:_MOST_LINES]
        if len(shown) > _MOST_LINES:
            lines.append(f"... and {len(shown) - _MOST_LINES} more, which -o json names")
    counts = f"{result.recovered} objects recovered, {len(result.missing)} not in the cluster"
    proof = "; a preview changes nothing, no drift" if result.is_equal else ""
    return "".join(f"{line}\n" for line in [*lines, f"{stack}: {counts}{proof}"])
