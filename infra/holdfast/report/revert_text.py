"""What a revert will do and what it did, for people."""

from collections.abc import Iterator, Sequence

from holdfast.drift.finding import DriftClass
from holdfast.drift.revert import ObjectPlan, PlannedStep, Step
from holdfast.kube.paths import format_path
from holdfast.report.safe_text import safe_text

_WORDS = {
    Step.APPLY: "apply as declared",
    Step.REMOVE: "remove",
    Step.RESET: "reset",
    Step.CREATE: "make again",
}


def revert_plan_text(plans: Sequence[ObjectPlan]) -> str:
    """Every action by name, then what is left alone and why; ending in a line end."""
    done = [(plan, step) for plan in plans for step in plan.steps if step.step is not Step.LEAVE]
    left = [(plan, step) for plan in plans for step in plan.steps if step.step is Step.LEAVE]
    lines = list(_section("To put back:", done))
    lines += _section("Left alone:", left)
    return "\n".join(lines) + "\n" if lines else "nothing to put back\n"


def _section(title: str, steps: Sequence[tuple[ObjectPlan, PlannedStep]]) -> Iterator[str]:
    if not steps:
        return
    yield title
    for plan, step in steps:
        path = format_path(step.finding.path)
        what = _WORDS.get(step.step, step.finding.drift_class.value)
        subject = safe_text(str(plan.ref))
        line = f"  {what:<18}{subject}" + (f"  {safe_text(path, longest=400)}" if path else "")
        if step.finding.drift_class is DriftClass.MISSING and plan.ref.kind.endswith("VolumeClaim"):
            line += "  (empty: its data is gone)"
        yield line + (f"  ({step.reason})" if step.reason else "")
