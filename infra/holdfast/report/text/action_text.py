"""Named actions as text and JSON: their steps, the backups of an agent, a recovered state."""

from collections.abc import Sequence
from typing import Any, Final

from holdfast.kube.text import safe_text
from holdfast.operations.actions.action import ActionStep
from holdfast.operations.actions.backup import BackupFound
from holdfast.operations.deploy.recovery import RecoveryResult
from holdfast.report.documents.drift import object_document
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.table import table

ACTION_VERSION: Final = "holdfast.dev/action/v1"


def steps_text(steps: Sequence[ActionStep]) -> str:
    """What would be done, one line a step; ending in a line end."""
    return "".join(f"{_step_line(step)}\n" for step in steps)


def action_json(
    action: str,
    agent: str,
    stack: str,
    outcome: str,
    steps: Sequence[ActionStep],
    **more: str,
) -> str:
    """The same for programs.

    Args:
        action: Such as `restart`.
        agent: Name of the agent.
        stack: Name of the stack.
        outcome: `planned`, `done`, or `nothing to do`.
        steps: What is or was done.
        more: Further keys, such as `reason`, `file` and `diff`.
    """
    document: dict[str, Any] = {
        "schemaVersion": ACTION_VERSION,
        "action": action,
        "agent": agent,
        "stack": stack,
        "outcome": outcome,
        "steps": [
            {
                "operation": step.operation,
                "object": object_document(step.ref) if step.ref else None,
                "why": step.why,
            }
            for step in steps
        ],
        **more,
    }
    return json_text(document)


def _step_line(step: ActionStep) -> str:
    what = f" {step.ref}" if step.ref else ""
    why = f" ({step.why})" if step.why else ""
    return safe_text(f"would {step.operation}{what}{why}", longest=400)


BACKUPS_VERSION: Final = "holdfast.dev/backups/v1"


def backups_text(agent: str, backups: Sequence[BackupFound]) -> str:
    """One line a backup, the newest first; ending in a line end."""
    if not backups:
        return f"{agent} has no backups in the cluster\n"
    rows = (
        (
            safe_text(each.made_at),
            each.kind,
            safe_text(each.name),
            safe_text(each.claim) or "-",
            "yes" if each.is_usable else "not yet",
        )
        for each in backups
    )
    head = ("MADE AT", "KIND", "NAME", "CLAIM", "USABLE")
    return "".join(f"{line}\n" for line in table(head, rows))


def backups_json(agent: str, backups: Sequence[BackupFound]) -> str:
    """The same for programs."""
    found = [
        {
            "kind": each.kind,
            "name": each.name,
            "madeAt": each.made_at,
            "claim": each.claim or None,
            "usable": each.is_usable,
        }
        for each in backups
    ]
    return json_text({"schemaVersion": BACKUPS_VERSION, "agent": agent, "backups": found})


RECOVERY_VERSION: Final = "holdfast.dev/recovery/v1"
_MOST_LINES: Final = 10


def recovery_json(stack: str, result: RecoveryResult) -> str:
    """The whole result, one document, ending in a line end."""
    document: dict[str, Any] = {
        "schemaVersion": RECOVERY_VERSION,
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
