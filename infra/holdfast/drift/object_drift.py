"""Judge one object: everything between "these two differ" and findings that can be shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from holdfast.drift.cause.attribution import Evidence
from holdfast.drift.compare.comparison import compare
from holdfast.drift.compare.difference import Difference, TypePosition
from holdfast.drift.compare.ownership import Ownership, undeclared_drift
from holdfast.drift.context import DriftContext, recorded_uid, uid_of
from holdfast.drift.exemption.controllers import AUTOSCALER_MANAGERS, REPLICAS
from holdfast.drift.exemption.server_owned import is_injected_bundle, is_server_owned
from holdfast.drift.finding import DriftClass, Finding, Severity
from holdfast.drift.masking import mask_pair
from holdfast.drift.plan.next_update import next_update_of, next_update_of_object
from holdfast.drift.severity import (
    BrokenRule,
    rules_broken_by,
    severity_of_field,
    severity_of_object,
    with_rules,
)
from holdfast.kube.defaults import ALLOCATED
from holdfast.kube.managed_fields import read_managed_fields
from holdfast.kube.normalisation import LAST_APPLIED, normalise_object
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.kube.paths import ABSENT, Path
from holdfast.kube.semantics import builtin_types
from holdfast.manifest.types.marks import agent_of

_RESTARTED: Final = (
    "spec",
    "template",
    "metadata",
    "annotations",
    "kubectl.kubernetes.io/restartedAt",
)


def object_findings(
    ref: ObjectRef, desired: KubeObject, live: Mapping[str, Any], context: DriftContext
) -> list[Finding]:
    """All findings about one declared object that exists in the cluster."""
    return [
        *_findings_of_identity(ref, desired, live, context),
        *field_findings(ref, desired, live, context),
    ]


def _findings_of_identity(
    ref: ObjectRef, desired: KubeObject, live: Mapping[str, Any], context: DriftContext
) -> Iterator[Finding]:
    if _is_recreated(ref, live, context) and not context.is_confirmed(live):
        yield whole_object_finding(ref, desired, DriftClass.RECREATED, context)
    if mapping_at(live, "metadata").get("deletionTimestamp"):
        yield whole_object_finding(ref, desired, DriftClass.TERMINATING, context)


def _is_same_object(before: str, live: Mapping[str, Any]) -> bool:
    """Whether an object is the one with this uid, as far as both are known."""
    now = uid_of(live)
    return not before or not now or before == now


def whole_object_finding(
    ref: ObjectRef,
    described_by: Mapping[str, Any],
    drift_class: DriftClass,
    context: DriftContext,
) -> Finding:
    """A finding about a whole object.

    Args:
        ref: The object.
        described_by: The declared object, or the live one of an unmanaged finding.
        drift_class: What happened to it.
        context: Where the evidence is.
    """
    managed = read_managed_fields(described_by)
    evidence = context.evidence_for(ref, described_by)
    is_recorded = ref.identity in (context.baseline or {}) and _is_same_object(
        recorded_uid(context.baseline, ref.identity), described_by
    )
    return Finding(
        ref=ref,
        agent=agent_of(described_by),
        drift_class=drift_class,
        severity=severity_of_object(ref, drift_class),
        actors=evidence.actors_of_object(drift_class, managed.of_object),
        next_update=next_update_of_object(drift_class, is_recorded=is_recorded),
    )


def field_findings(
    ref: ObjectRef,
    desired: KubeObject,
    live: Mapping[str, Any],
    context: DriftContext,
    *,
    is_made: bool = False,
) -> list[Finding]:
    """Findings about the fields of one object, remarks included.

    Args:
        ref: The object.
        desired: As it is declared.
        live: As it is.
        context: Where the evidence is.
        is_made: A controller made it, and `desired` follows from a template.
    """
    wanted, found = normalise_object(desired), normalise_object(live)
    differences = compare(wanted, found, context.structure_of(ref, live))
    remarks = list(_remarks(desired, live))
    if not differences and not remarks:
        return []
    ownership = Ownership(
        wanted,
        live,
        lambda: (context.baseline or {}).get(ref.identity),
        is_recreated=_is_recreated(ref, live, context),
        user_of=lambda entry: context.evidence_for(ref, desired).user_of(entry),
        recent_users=lambda: context.evidence_for(ref, desired).recent_users(),
        controllers=context.controllers,
        believes_names=context.believes_names,
        is_made=is_made,
    )
    drift = [
        one for difference in differences for one in _as_drift(ref, difference, ownership, context)
    ]
    drift = _without_consequences(drift)
    if not drift and not remarks:
        # Most objects: nothing to judge and no actor to name, so no audit log to read.
        return []
    counted = [one for one in drift if not _is_remark(ref, one, ownership, context)]
    broken = rules_broken_by(context.judge, desired, live, counted)
    rules = dict(zip((id(one) for one in counted), broken, strict=True))
    evidence = context.evidence_for(ref, desired)
    writer = _FieldWriter(ref, desired, ownership, evidence)
    return [
        *(
            writer.finding(one, rules.get(id(one), ()), is_remark=id(one) not in rules)
            for one in drift
        ),
        *(writer.finding(one, (), is_remark=True) for one in remarks),
    ]


def _is_recreated(ref: ObjectRef, live: Mapping[str, Any], context: DriftContext) -> bool:
    return not _is_same_object(recorded_uid(context.baseline, ref.identity), live)


def _as_drift(
    ref: ObjectRef,
    difference: Difference,
    ownership: Ownership,
    context: DriftContext,
) -> Iterator[Difference]:
    if context.rollouts.writes(ref, difference) or context.failovers.moves(ref, difference):
        return
    if difference.path == REPLICAS:
        yield from _replicas_drift(ref, difference, ownership, context)
    elif not difference.is_declared:
        yield from undeclared_drift(ref, difference, ownership)
    else:
        writers = ownership.field_writers_of(difference.path)
        if not is_injected_bundle(difference, writers, ownership.exemptions):
            yield difference


def _replicas_drift(
    ref: ObjectRef, difference: Difference, ownership: Ownership, context: DriftContext
) -> Iterator[Difference]:
    """Replica counts: free within the range of an autoscaler, else as declared or defaulted."""
    scaled = context.autoscalers.range_of(ref)
    if scaled is None or not isinstance(difference.live, int):
        owned = difference.is_declared or ownership.owners_of(REPLICAS) or ownership.is_wiped
        if owned:
            yield difference
    elif difference.live not in scaled:
        nearest = scaled.nearest(difference.live)
        desired = difference.desired if difference.is_declared else nearest
        yield Difference(difference.position, DriftClass.CHANGED, desired, difference.live)
    elif not _was_scaled_by_autoscaler(ownership):
        yield difference


def _was_scaled_by_autoscaler(ownership: Ownership) -> bool:
    owners = [entry.manager for entry in ownership.owners_of(REPLICAS)]
    return not owners or not AUTOSCALER_MANAGERS.isdisjoint(owners)


def _is_remark(
    ref: ObjectRef, difference: Difference, ownership: Ownership, context: DriftContext
) -> bool:
    """Whether a difference is worth a word but no drift."""
    if difference.path == _RESTARTED and not difference.is_declared:
        return True
    if context.rollouts.is_restart(ref, difference):
        return True
    scaled = context.autoscalers.range_of(ref)
    return (
        difference.path == REPLICAS
        and scaled is not None
        and difference.live in scaled
        and not _was_scaled_by_autoscaler(ownership)
    )


def _without_consequences(drift: list[Difference]) -> list[Difference]:
    """Drop what the server allocated only because a reported field asked for it."""
    paths = {one.path for one in drift}
    if ("spec", "type") not in paths:
        return drift
    return [one for one in drift if one.desired is not ALLOCATED]


def _remarks(desired: KubeObject, live: Mapping[str, Any]) -> Iterator[Difference]:
    """The last-applied annotation on an object that is not deployed by client-side apply."""
    path = ("metadata", "annotations", LAST_APPLIED)
    annotations = mapping_at(live, "metadata", "annotations")
    declared = mapping_at(desired, "metadata", "annotations")
    if LAST_APPLIED not in annotations or LAST_APPLIED in declared:
        return
    entries = read_managed_fields(live).of_object
    if any(entry.operation == "Apply" for entry in entries):
        position = TypePosition(builtin_types().of_unknown_kind, path, is_declared=False)
        yield Difference(position, DriftClass.ADDED, ABSENT, annotations[LAST_APPLIED])


@dataclass(frozen=True)
class _FieldWriter:
    """Turns the differences of one object into findings."""

    ref: ObjectRef
    desired: KubeObject
    ownership: Ownership
    evidence: Evidence

    def finding(
        self, difference: Difference, broken: tuple[BrokenRule, ...], *, is_remark: bool
    ) -> Finding:
        wanted = ABSENT if difference.desired is ALLOCATED else difference.desired
        values = (wanted, difference.live)
        severity = severity_of_field(self.ref, difference.drift_class, difference.path, *values)
        masked = mask_pair(self.desired, difference.path, *values)
        owners = self.ownership.owners_of(difference.path)
        # What is not declared stays because a manager keeps it, whenever it was written.
        since = self.ownership.writers_of(difference.path) if difference.is_declared else owners
        found = Finding(
            ref=self.ref,
            agent=agent_of(self.desired),
            drift_class=difference.drift_class,
            path=difference.path,
            desired=masked[0],
            live=masked[1],
            severity=Severity.INFO if is_remark else with_rules(severity, broken),
            policies=tuple(rule.name for rule in broken),
            actors=self.evidence.actors_of_field(
                since,
                leaves_owner=difference.leaves_owner,
                is_wiped=self.ownership.is_wiped,
            ),
            expected_by=difference.expected_by,
        )
        return replace(
            found, next_update=next_update_of(found, owners, self.desired, self.ownership.live)
        )


def deviations_of(
    ref: ObjectRef, desired: KubeObject, live: Mapping[str, Any], context: DriftContext
) -> Iterator[tuple[Path, Any, Any]]:
    """Path, rendered value and live value of each deviation, masked; None where there is none.

    Without what every cluster chooses for itself: addresses, names of volumes, replicas within an
    autoscaler's range.
    """
    wanted = normalise_object(desired)
    ownership = Ownership(wanted, live)
    for each in compare(wanted, normalise_object(live), context.structure_of(ref, live)):
        writers = ownership.field_writers_of(each.path)
        is_own_choice = each.desired is ALLOCATED or (
            each.path == REPLICAS and context.autoscalers.range_of(ref) is not None
        )
        if is_own_choice or (
            not each.is_declared and is_server_owned(ref, each, writers, ownership.exemptions)
        ):
            continue
        yield (each.path, *mask_pair(desired, each.path, each.desired, each.live))
