"""What would put an object back: planned before anything is written, and planned again just before.

Pure: the requests are data. Declared fields come back by server-side apply of the declaration,
additions go by a patch of exactly the reported paths, and both together by one patch, so that
admission sees the final object only; what only a replacement could change, what admission would set
again, and what an autoscaler decides is left alone, with the reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from holdfast.drift.cause.attribution import ADMISSION, is_deployer
from holdfast.drift.compare.comparison import compare
from holdfast.drift.exemption.controllers import REPLICAS
from holdfast.drift.finding import DriftClass, ExpectedBy, Finding, NextUpdate
from holdfast.drift.plan.next_update import NEVER_REPLACED, needs_replacement
from holdfast.drift.plan.undeployed import with_owned_fields
from holdfast.drift.plan.whole_patch import can_be_one_patch, whole_patch
from holdfast.drift.update_annotations import UPDATE_ANNOTATIONS
from holdfast.kube.managed_fields import (
    FIELD_MANAGER,
    FIELD_MANAGER_ANNOTATION,
    read_managed_fields,
)
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.kube.paths import ABSENT, Path, json_pointer, value_at, with_value
from holdfast.kube.scalars import parse_quantity
from holdfast.kube.structure import Structure


class Step(StrEnum):
    """What is done about one finding."""

    APPLY = "apply"
    REMOVE = "remove"
    RESET = "reset"
    CREATE = "create"
    REPLACE = "replace"
    CONFIRM = "confirm"
    LEAVE = "leave"


@dataclass(frozen=True)
class PlannedStep:
    """One finding and what is done about it.

    Attributes:
        reason: Why it is left alone and what to do instead; empty for the other steps.
    """

    finding: Finding
    step: Step
    reason: str = ""


@dataclass(frozen=True)
class ObjectPlan:
    """Everything that is done to one object.

    Attributes:
        steps: One for each finding that counts.
        apply: Body of a server-side apply; None when no declared field has to come back, or the
            patch brings it.
        patch: Operations of a JSON patch, guarded by uid and resourceVersion; empty for none.
        owns: What the patch changes belongs to the declaration: a second patch, of managedFields
            alone, records it as applied.
        replacement: What is created after the object was deleted; None when it stays.
        undeployed: Fields that the files have removed since the last update. A revert keeps them;
            the next update removes them.
    """

    ref: ObjectRef
    steps: tuple[PlannedStep, ...]
    apply: KubeObject | None = None
    patch: tuple[dict[str, Any], ...] = ()
    owns: bool = False
    replacement: KubeObject | None = None
    undeployed: tuple[Path, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether anything would be written: to the cluster, or to the stack's history."""
        return bool(self.requests) or self.confirms

    @property
    def confirms(self) -> bool:
        """Whether the object is recorded as the stack's, although another client recreated it."""
        return any(step.step is Step.CONFIRM for step in self.steps)

    @property
    def requests(self) -> tuple[str, ...]:
        """The writes in their order: `delete`, `patch`, `apply`, `create`."""
        if self.replacement is not None:
            return ("delete", "create")
        is_creation = any(step.step is Step.CREATE for step in self.steps)
        applied = "create" if is_creation else "apply"
        patches = ("patch", "patch") if self.owns else ("patch",) if self.patch else ()
        return patches + ((applied,) if self.apply is not None else ())

    @property
    def restarts_pods(self) -> bool:
        """Whether pods are restarted: their template changes, or all of the object does."""
        if self.ref.kind not in _OF_PODS:
            return False
        done = [step for step in self.steps if step.step is not Step.LEAVE]
        is_anew = any(step.step in {Step.CREATE, Step.REPLACE} for step in done)
        return is_anew or any(step.finding.path[:2] == _TEMPLATE for step in done)


_OF_PODS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"})
_TEMPLATE: Final = ("spec", "template")
_WHOLE_OBJECT_REASONS: Final = {
    DriftClass.UNMANAGED: "not declared: declare it, or delete it",
    DriftClass.TERMINATING: "being deleted: when it is gone, deploy again",
}
_REPLACE: Final = "--allow-replace deletes the object and makes it again"


def field_manager_for(desired: Mapping[str, Any], live: Mapping[str, Any] | None) -> str:
    """Manager under which the declaration is deployed, so that it keeps one owner.

    The one that the declaration names, else the one that applied the live object, else our own.
    """
    named = mapping_at(desired, "metadata", "annotations").get(FIELD_MANAGER_ANNOTATION)
    if named:
        return str(named)
    entries = read_managed_fields(live).of_object if live is not None else ()
    appliers = [entry.manager for entry in entries if entry.operation == "Apply"]
    deployers = [manager for manager in appliers if is_deployer(manager)] or appliers
    return deployers[0] if len(deployers) == 1 else FIELD_MANAGER


def plan_missing(finding: Finding, desired: KubeObject) -> ObjectPlan:
    """Plan for an object that is gone: created as declared."""
    step = PlannedStep(finding, Step.CREATE)
    return ObjectPlan(finding.ref, (step,), apply=_writable(desired))


def plan_nothing(findings: Sequence[Finding], reason: str) -> ObjectPlan:
    """Plan for an object that is left alone as a whole, and why."""
    counted = (finding for finding in findings if finding.is_drift)
    steps = tuple(PlannedStep(finding, Step.LEAVE, reason) for finding in counted)
    return ObjectPlan(findings[0].ref, steps)


def plan_object(
    findings: Sequence[Finding],
    desired: KubeObject,
    live: Mapping[str, Any],
    structure: Structure,
    *,
    may_replace: bool = False,
) -> ObjectPlan:
    """Plan for one object that is there.

    Args:
        findings: Its findings; remarks are passed over.
        desired: The declaration.
        live: The object as it was read for these findings.
        structure: What is known about its type.
        may_replace: What cannot be changed in place is deleted and recreated.
    """
    ref = findings[0].ref
    counted = [finding for finding in findings if finding.is_drift]
    steps = tuple(_step_for(finding, live, may_replace=may_replace) for finding in counted)
    if any(step.step is Step.REPLACE for step in steps):
        # Everything else about the object comes right along with it.
        replaced = tuple(PlannedStep(finding, Step.REPLACE) for finding in counted)
        return ObjectPlan(ref, replaced, replacement=_writable(desired))
    body: KubeObject | None = None
    undeployed: tuple[Path, ...] = ()
    if any(step.step is Step.APPLY for step in steps):
        reverted = {step.finding.path for step in steps if step.step is Step.APPLY}
        passed_over = {Step.LEAVE, Step.CONFIRM}
        changed = {step.finding.path for step in steps if step.step not in passed_over}
        kept = with_owned_fields(
            _with_left_alone(desired, live, structure, reverted),
            live,
            field_manager_for(desired, live),
            changed,
        )
        body, undeployed = kept.body, kept.undeployed
        metadata = mapping_at(live, "metadata")
        guards = {key: metadata[key] for key in ("uid", "resourceVersion") if key in metadata}
        body["metadata"] = {**body["metadata"], **guards}
    patch = _patch_for(steps, live)
    if patch and body is not None and _is_one_patch(steps, desired, live):
        applied = [step.finding.path for step in steps if step.step is Step.APPLY]
        removed = [step.finding.path for step in steps if step.step in {Step.REMOVE, Step.RESET}]
        whole = (*_guards(live), *whole_patch(applied, removed, body, live))
        return ObjectPlan(ref, steps, patch=whole, owns=True, undeployed=undeployed)
    return ObjectPlan(ref, steps, apply=body, patch=patch, undeployed=undeployed)


def _is_one_patch(
    steps: Sequence[PlannedStep], desired: KubeObject, live: Mapping[str, Any]
) -> bool:
    """Whether removals and declared values go by one patch; a value that is reset is not ours."""
    changed = [step for step in steps if step.step in {Step.APPLY, Step.REMOVE, Step.RESET}]
    if any("value" in _operation(step, "") for step in changed if step.step is Step.RESET):
        return False
    manager = field_manager_for(desired, live)
    return can_be_one_patch([step.finding.path for step in changed], live, manager)


def _step_for(finding: Finding, live: Mapping[str, Any], *, may_replace: bool) -> PlannedStep:
    if finding.drift_class is DriftClass.RECREATED:
        return PlannedStep(finding, Step.CONFIRM)
    reason = _reason_to_leave(finding)
    unchangeable = needs_replacement(finding, live)
    if unchangeable and not reason:
        if may_replace and finding.ref.kind not in NEVER_REPLACED:
            return PlannedStep(finding, Step.REPLACE)
        reason = f"{unchangeable}: {_REPLACE}"
        if finding.ref.kind in NEVER_REPLACED:
            reason = f"{unchangeable}, and what it holds would go with it: adopt it"
    if reason:
        return PlannedStep(finding, Step.LEAVE, reason)
    if finding.expected_by is ExpectedBy.DECLARATION:
        return PlannedStep(finding, Step.APPLY)
    if finding.drift_class is DriftClass.ADDED:
        return PlannedStep(finding, Step.REMOVE)
    return PlannedStep(finding, Step.RESET)


def _reason_to_leave(finding: Finding) -> str:
    admission = [actor.manager for actor in finding.actors] == [ADMISSION]
    reasons = (
        (
            finding.next_update is NextUpdate.DELETES,
            "no longer declared since the last update: the next update deletes it",
        ),
        (finding.drift_class in _WHOLE_OBJECT_REASONS, ""),
        (finding.ref.kind == "DriftIgnore", "the rule has ended: renew it or remove it"),
        (_would_shrink(finding), "a claim cannot shrink: adopt the larger size"),
        (
            admission and finding.expected_by is not ExpectedBy.DECLARATION,
            "set by admission, which would set it again: change the admission policy",
        ),
        (
            finding.expected_by is ExpectedBy.RECORD,
            "only the stack's record is wrong: run `pulumi refresh`, which rewrites it",
        ),
        (
            finding.expected_by is ExpectedBy.SERVER,
            "the server chose the old value and it is not known: declare one",
        ),
    )
    applying = next((reason for applies, reason in reasons if applies), None)
    if applying is None:
        return ""
    return applying or _WHOLE_OBJECT_REASONS[finding.drift_class]


def _would_shrink(finding: Finding) -> bool:
    if finding.ref.kind != "PersistentVolumeClaim" or "storage" not in finding.path:
        return False
    try:
        return parse_quantity(finding.desired) < parse_quantity(finding.live)
    except ValueError:
        return True


def _with_left_alone(
    desired: KubeObject, live: Mapping[str, Any], structure: Structure, reverted: set[Path]
) -> KubeObject:
    """The declaration, but with the live value wherever a difference is not to be put back.

    An autoscaler's replicas must not be reset because an image is; and a field that cannot be
    changed in place would make the server refuse everything else.
    """
    body = _writable(desired)
    for difference in compare(normalise_object(desired), normalise_object(live), structure):
        if difference.is_declared and difference.path not in reverted:
            body = with_value(body, difference.path, difference.live)
    for mark in UPDATE_ANNOTATIONS:
        # No declaration has them, and an apply without them takes away what is ours.
        found = value_at(live, mark)
        if found is not ABSENT and value_at(body, mark) is ABSENT:
            body = with_value(body, mark, found)
    return body


def _writable(desired: KubeObject) -> KubeObject:
    """The declaration without status and bookkeeping; Secrets with their data in one form."""
    body = normalise_object(desired)
    annotations = mapping_at(desired, "metadata").get("annotations")
    if annotations:
        body["metadata"] = {**body["metadata"], "annotations": annotations}
    if desired.get("kind") == "ClusterRole" and "rules" in desired:
        body["rules"] = desired["rules"]
    return body


def _patch_for(steps: Sequence[PlannedStep], live: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    operations = []
    for step in steps:
        if step.step not in {Step.REMOVE, Step.RESET}:
            continue
        pointer = json_pointer(dict(live), step.finding.path)
        if pointer is not None:
            operations.append(_operation(step, pointer))
    if not operations:
        return ()
    # From the end of each list: removing an item moves those behind it.
    operations.sort(key=lambda operation: _places(operation["path"]), reverse=True)
    return (*_guards(live), *operations)


def _guards(live: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    metadata = mapping_at(live, "metadata")
    for key in ("uid", "resourceVersion"):
        if key in metadata:
            yield {"op": "test", "path": f"/metadata/{key}", "value": metadata[key]}


def _operation(step: PlannedStep, pointer: str) -> dict[str, Any]:
    finding = step.finding
    known = finding.expected_by is ExpectedBy.BASELINE or finding.path == REPLICAS
    if step.step is Step.RESET and known:
        return {"op": "replace", "path": pointer, "value": finding.desired}
    # Without a value the server fills in its default, and no manager becomes the owner.
    return {"op": "remove", "path": pointer}


def _places(pointer: str) -> list[tuple[int, str]]:
    return [(int(part) if part.isdigit() else -1, part) for part in pointer.split("/")]
