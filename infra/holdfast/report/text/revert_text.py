"""What a revert will do, what stays, and who owns which fields, for people and as data."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from holdfast.drift.cause.owners import OwnedObject, Owner
from holdfast.drift.finding import DriftClass, Finding
from holdfast.drift.plan.revert import ObjectPlan, PlannedStep, Step
from holdfast.kube.paths import format_path
from holdfast.kube.text import counted, safe_text
from holdfast.report.documents.json_text import json_text

PLAN_VERSION: Final = "holdfast.dev/plan/v1"

_WORDS = {
    Step.APPLY: "apply as declared",
    Step.REMOVE: "remove",
    Step.RESET: "reset",
    Step.CREATE: "create",
    Step.REPLACE: "replace",
    Step.CONFIRM: "confirm",
}


def revert_plan_text(plans: Sequence[ObjectPlan]) -> str:
    """Every action by name, then what is left alone and why; ending in a line end."""
    done = [(plan, step) for plan in plans for step in plan.steps if step.step is not Step.LEAVE]
    left = [(plan, step) for plan in plans for step in plan.steps if step.step is Step.LEAVE]
    lines = list(_section("To revert:", done))
    lines += [
        f"  restarts pods     {safe_text(str(plan.ref))}" for plan in plans if plan.restarts_pods
    ]
    lines += _section("Left alone:", left)
    lines += _undeployed(plans)
    return "\n".join(lines) + "\n" if lines else "nothing to revert\n"


def _undeployed(plans: Sequence[ObjectPlan]) -> Iterator[str]:
    """Where the files have moved on and no update has deployed it: a revert leaves that alone."""
    kept = [(plan.ref, path) for plan in plans for path in plan.undeployed]
    if kept:
        yield "Declared, not deployed (left to the next update):"
    for ref, path in kept:
        yield f"  keep              {safe_text(f'{ref}  {format_path(path)}', longest=400)}"


def plan_json(plans: Sequence[ObjectPlan]) -> str:
    """The same as data: one action an object with its requests, and what is left alone."""
    document = {
        "schemaVersion": PLAN_VERSION,
        "actions": [_action(plan) for plan in plans if plan.acts],
        "left": [
            {**_object(plan), **_step(step), "reason": step.reason}
            for plan in plans
            for step in plan.steps
            if step.step is Step.LEAVE
        ],
    }
    return json_text(document)


def _action(plan: ObjectPlan) -> dict[str, Any]:
    return {
        **_object(plan),
        "requests": list(plan.requests),
        "restartsPods": plan.restarts_pods,
        "steps": [
            {"action": step.step.value, **_step(step)}
            for step in plan.steps
            if step.step is not Step.LEAVE
        ],
        "undeployed": [format_path(path) for path in plan.undeployed],
    }


def _object(plan: ObjectPlan) -> dict[str, Any]:
    ref = plan.ref
    parts = {"apiVersion": ref.api_version, "kind": ref.kind}
    return {"object": {**parts, "namespace": ref.namespace, "name": ref.name}}


def _step(step: PlannedStep) -> dict[str, str]:
    finding = step.finding
    return {"class": finding.drift_class.value, "path": format_path(finding.path)}


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


OWNERS_VERSION: Final = "holdfast.dev/owners/v1"


def not_adopted_line(finding: Finding, reason: str) -> str:
    """A finding that no change of the files adopts, and why; in a line without its end."""
    name = f"{finding.ref} {format_path(finding.path)}".rstrip()
    return f"not adopted: {name}: {reason}"


def owners_text(objects: Sequence[OwnedObject]) -> str:
    """An object a paragraph: deliverers with how much they apply, everybody else by field."""
    lines = [line for each in objects for line in _paragraph(each)]
    shared = sum(len(each.deliverers) > 1 for each in objects)
    lines.append(f"{counted(len(objects), 'object')}, {shared} applied by more than one")
    return "\n".join(lines) + "\n"


def _paragraph(owned: OwnedObject) -> Iterator[str]:
    yield safe_text(str(owned.ref))
    for owner in owned.owners:
        yield f"  {safe_text(owner.manager)}  {safe_text(owner.operation)} {safe_text(owner.time)}"
        if owner.deliverer:
            count = len(owner.paths)
            yield f"    applies {counted(count, 'field')} ({owner.deliverer})"
        else:
            yield from (f"    {safe_text(path)}" for path in owner.paths)
    if len(owned.deliverers) > 1:
        yield f"  shared by {', '.join(map(safe_text, owned.deliverers))}"


def owners_json(objects: Sequence[OwnedObject]) -> str:
    """Everything as data, each path of each owner."""
    document = {
        "schemaVersion": OWNERS_VERSION,
        "objects": [_owned_object(each) for each in objects],
    }
    return json_text(document)


def _owned_object(owned: OwnedObject) -> dict[str, Any]:
    ref = owned.ref
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "owners": [_owner(each) for each in owned.owners],
    }


def _owner(owner: Owner) -> dict[str, Any]:
    return {
        "manager": owner.manager,
        "operation": owner.operation,
        "time": owner.time,
        "delivers": owner.deliverer or None,
        "paths": list(owner.paths),
    }
