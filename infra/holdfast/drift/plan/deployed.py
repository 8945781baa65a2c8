"""What the last update deployed, where the declaration has moved on since: where reverts go. Pure.

A revert restores what was reviewed and deployed. What the files declare since then is deployed by
the next update, with its own checks: a scan says "declared, not deployed" of it, and blames nobody.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast.drift.cause.attribution import is_deployer
from holdfast.drift.compare.comparison import compare
from holdfast.drift.context import DriftContext, asked_object_of, was_deployed
from holdfast.drift.finding import FIELD_CLASSES, DriftClass, ExpectedBy, Finding, NextUpdate
from holdfast.drift.update_annotations import UPDATE_ANNOTATIONS
from holdfast.kube.managed_fields import read_managed_fields
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.paths import Path, value_at


def with_deployment(
    finding: Finding,
    declared: KubeObject | None,
    live: Mapping[str, Any] | None,
    context: DriftContext,
) -> Finding:
    """A finding as it is, or as one about a declaration that no update has deployed yet."""
    if declared is None or not _is_undeployed(finding, declared, live, context):
        return finding
    return replace(finding, actors=(), next_update=NextUpdate.DEPLOYS)


def _is_undeployed(
    finding: Finding,
    declared: KubeObject,
    live: Mapping[str, Any] | None,
    context: DriftContext,
) -> bool:
    baseline, identity = context.baseline, finding.ref.identity
    if baseline is None:
        return False
    if finding.drift_class is DriftClass.MISSING:
        return not was_deployed(baseline, identity)
    is_declared = finding.expected_by is ExpectedBy.DECLARATION
    if finding.drift_class not in FIELD_CLASSES or not is_declared or live is None:
        return False
    before = baseline.get(identity)
    if before is None or _value(before, finding.path) != _value(live, finding.path):
        return False
    asked = asked_object_of(baseline, identity)
    if asked is not None:
        return bool(_value(asked, finding.path) != _value(declared, finding.path))
    # Without what was asked for: a value that another client wrote during the update is drift.
    owners = read_managed_fields(before).owners_of(finding.path)
    return all(is_deployer(owner.manager) for owner in owners)


def deployed_object(ref: ObjectRef, declared: KubeObject, context: DriftContext) -> KubeObject:
    """What the last update asked for; the declaration where that is the same, or is not known."""
    asked = asked_object_of(context.baseline, ref.identity)
    if asked is None or not undeployed_paths(ref, declared, context):
        return declared
    place = {
        key: declared["metadata"][key]
        for key in ("name", "namespace")
        if key in declared["metadata"]
    }
    return {**asked, "metadata": {**(asked.get("metadata") or {}), **place}}


def undeployed_paths(
    ref: ObjectRef, declared: KubeObject, context: DriftContext
) -> tuple[Path, ...]:
    """Where the declaration differs from what the last update asked for; none if not known."""
    asked = asked_object_of(context.baseline, ref.identity)
    if asked is None:
        return ()
    structure = context.structure_of(ref, asked)
    differences = compare(normalise_object(declared), normalise_object(asked), structure)
    return tuple(each.path for each in differences if each.path not in UPDATE_ANNOTATIONS)


def _value(one: Mapping[str, Any], path: Path) -> object:
    return value_at(normalise_object(one), path)
