"""A named action on an agent, before and after it is done: lines for people, a document."""

from collections.abc import Sequence
from typing import Any, Final

from holdfast.kube.text import safe_text
from holdfast.operations.actions.action import ActionStep
from holdfast.report.documents.drift import object_document
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/action/v1"


def steps_text(steps: Sequence[ActionStep]) -> str:
    """What would be done, one line a step; ending in a line end."""
    return "".join(f"{_line(step)}\n" for step in steps)


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
        "schemaVersion": SCHEMA_VERSION,
        "action": action,
        "agent": agent,
        "stack": stack,
        "outcome": outcome,
        "steps": [
            {
                "deed": step.operation,
                "object": object_document(step.ref) if step.ref else None,
                "why": step.why,
            }
            for step in steps
        ],
        **more,
    }
    return json_text(document)


def _line(step: ActionStep) -> str:
    what = f" {step.ref}" if step.ref else ""
    why = f" ({step.why})" if step.why else ""
    return safe_text(f"would {step.operation}{what}{why}", longest=400)
