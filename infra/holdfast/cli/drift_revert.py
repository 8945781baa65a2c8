"""`holdfast drift --revert`: shown, agreed to, read again, written, verified. Wiring."""

import sys
from dataclasses import dataclass

import click

from holdfast.cli.drift_sources import DriftSources, Scan
from holdfast.drift.finding import DriftClass, Finding
from holdfast.drift.object_drift import object_findings
from holdfast.drift.revert import ObjectPlan, Step, field_manager_for, plan_missing, plan_object
from holdfast.errors import ClusterError, InputError, LoginError
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.report.revert_text import revert_plan_text

MOST_TRIES = 5
"""How often one object is judged and written anew when somebody writes in between."""


@dataclass(frozen=True)
class RevertOutcome:
    """What came of a revert.

    Attributes:
        scan: The scan that verified it; the first one when nothing was done.
        failures: How many objects could not be put back.
    """

    scan: Scan
    failures: int = 0


def revert(sources: DriftSources, scan: Scan, *, is_agreed: bool) -> RevertOutcome:
    """Show what would be put back, ask, do it, and look again.

    Raises:
        InputError: nobody is there to be asked, and `--yes` was not given.
    """
    plans = [plan for plan in plans_for(scan) if plan.steps]
    click.echo(revert_plan_text(plans), nl=False, err=True)
    acting = [plan for plan in plans if plan.acts]
    if not acting:
        return RevertOutcome(scan)
    if not is_agreed:
        if not sys.stdin.isatty():
            raise InputError("--revert asks before it writes", remedy="add --yes to agree to all")
        if not click.confirm("Put these back?", err=True):
            raise click.Abort
    failures = 0
    for plan in sorted(acting, key=_creation_order):
        try:
            click.echo(f"{_put_back(sources, scan, plan)}: {plan.ref}", err=True)
        except LoginError:
            raise
        except ClusterError as error:
            failures += 1
            click.echo(f"failed: {plan.ref}: {error}", err=True)
    return RevertOutcome(sources.scan(), failures)


def plans_for(scan: Scan) -> list[ObjectPlan]:
    """What would be done about each object that drifted."""
    by_object: dict[ObjectRef, list[Finding]] = {}
    for finding in scan.report.drift:
        by_object.setdefault(finding.ref, []).append(finding)
    return [_plan(scan, ref, findings) for ref, findings in by_object.items()]


def _plan(scan: Scan, ref: ObjectRef, findings: list[Finding]) -> ObjectPlan:
    if findings[0].drift_class is DriftClass.MISSING:
        return plan_missing(findings[0], scan.desired[ref.identity])
    live = scan.live.objects[ref.identity]
    desired = scan.desired.get(ref.identity, {"metadata": {}})
    return plan_object(findings, desired, live, scan.around.structure_of(ref, live))


def _creation_order(plan: ObjectPlan) -> tuple[int, ObjectRef]:
    """Namespaces and definitions first: the rest is made inside them."""
    first = {"Namespace": 0, "CustomResourceDefinition": 1}
    return (first.get(plan.ref.kind, 2), plan.ref)


def _put_back(sources: DriftSources, scan: Scan, shown: ObjectPlan) -> str:
    """Put one object back; whoever wrote in between makes it judged anew, a few times."""
    from holdfast.cluster.api_error import ApiError  # noqa: PLC0415  (only a revert writes)

    for tries_left in reversed(range(MOST_TRIES)):
        try:
            return _put_back_once(sources, scan, shown)
        except ApiError as error:
            # Controllers write status all the time, and every write ends the guard's version.
            if not (error.is_conflict and tries_left):
                raise
    raise AssertionError  # the last try returns or raises


def _put_back_once(sources: DriftSources, scan: Scan, shown: ObjectPlan) -> str:
    """Judge one object once more and write what was agreed to; says what was done."""
    from holdfast.cluster.writing import (  # noqa: PLC0415  (only a revert writes)
        apply_object,
        patch_object,
        read_object,
    )

    ref, cluster = shown.ref, sources.cluster
    entry = cluster.kinds[ref.api_version, ref.kind]
    desired = scan.desired[ref.identity]
    live = read_object(cluster.client, ref, entry)
    plan = _plan_again(scan, shown, desired, live)
    if not plan.acts:
        return "already as declared"
    manager = field_manager_for(desired, live)
    body = plan.apply
    if plan.patch:
        written = patch_object(cluster.client, entry, ref, plan.patch, manager)
        if body is not None:
            version = written["metadata"]["resourceVersion"]
            body = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
    if body is not None:
        apply_object(cluster.client, entry, ref, body, manager)
    return "made again" if live is None else "put back"


def _plan_again(
    scan: Scan, shown: ObjectPlan, desired: KubeObject, live: KubeObject | None
) -> ObjectPlan:
    """The plan for the object as it is now, restricted to what was shown and agreed to."""
    if live is None:
        is_creation = any(step.step is Step.CREATE for step in shown.steps)
        return shown if is_creation else ObjectPlan(shown.ref, ())
    agreed = {step.finding.path for step in shown.steps if step.step is not Step.LEAVE}
    now = [
        finding
        for finding in object_findings(shown.ref, desired, live, scan.around)
        if finding.counts and finding.path in agreed
    ]
    if not now:
        return ObjectPlan(shown.ref, ())
    return plan_object(now, desired, live, scan.around.structure_of(shown.ref, live))
