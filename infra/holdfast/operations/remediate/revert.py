"""`holdfast drift --revert` and `--plan`: shown, agreed to, written, verified. Wiring."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import click
from msgspec.structs import replace

from holdfast.adapters.engine.update_record import DONE, NOT_DONE
from holdfast.drift.cause.delivery import engine_of, left_to
from holdfast.drift.finding import DriftClass, Finding
from holdfast.drift.plan.revert import ObjectPlan, plan_missing, plan_nothing, plan_object
from holdfast.errors import ClusterError, InputError, LoginError
from holdfast.kube.objects import ObjectRef
from holdfast.operations.scan.sources import DriftSources, Scan
from holdfast.report.text.revert_text import plan_json, revert_plan_text


@dataclass(frozen=True)
class RevertOutcome:
    """What came of a revert.

    Attributes:
        scan: The scan that verified it; the first one when nothing was done.
        failures: How many objects could not be put back.
    """

    scan: Scan
    failures: int = 0


def revert(
    sources: DriftSources, scan: Scan, *, is_agreed: bool, may_replace: bool = False
) -> RevertOutcome:
    """Show what would be put back, ask, do it, and look again.

    Raises:
        InputError: nobody is there to be asked, and `--yes` was not given.
        EngineError: an update of the stack is under way.
    """
    from holdfast.operations.remediate.put_back import PutBack  # noqa: PLC0415  (only a revert writes)

    plans = [plan for plan in plans_for(scan, may_replace=may_replace) if plan.steps]
    click.echo(revert_plan_text(plans), nl=False, err=True)
    acting = [plan for plan in plans if plan.acts]
    if not acting:
        return RevertOutcome(scan)
    if not is_agreed:
        if not sys.stdin.isatty():
            raise InputError("--revert asks before it writes", remedy="add --yes to agree to all")
        if not click.confirm("Put these back?", err=True):
            raise click.Abort
    failures, put_back = 0, PutBack(sources, scan, lambda line: click.echo(line, err=True))
    done: list[ObjectPlan] = []
    with _held(sources):
        for plan in sorted(acting, key=_creation_order):
            try:
                click.echo(f"{put_back.do(plan)}: {plan.ref}", err=True)
                done.append(plan)
            except LoginError:
                raise
            except ClusterError as error:
                failures += 1
                click.echo(f"failed: {plan.ref}: {error}", err=True)
    _note(sources, done, failures)
    return RevertOutcome(sources.scan(), failures)


def _held(sources: DriftSources) -> AbstractContextManager[None]:
    """Keep updates of the stack away; plain objects have none."""
    if not sources.request.stack:
        return nullcontext()
    from holdfast.operations.stack.context import StackContext  # noqa: PLC0415  (as above)
    from holdfast.operations.stack.project import find_project_root  # noqa: PLC0415  (as above)

    return StackContext(find_project_root(), sources.request.stack).locked()


def _note(sources: DriftSources, done: Sequence[ObjectPlan], failures: int) -> None:
    """Record in the history of a stack what was put back."""
    stack = sources.request.stack
    if not stack or not (done or failures):
        return
    from holdfast.operations.deploy.facts import day_two_record, journal_of  # noqa: PLC0415  (as above)
    from holdfast.operations.stack.project import find_project_root  # noqa: PLC0415  (only a revert writes)

    what = f"put back {', '.join(str(plan.ref) for plan in done) or 'nothing'}"
    record = replace(
        day_two_record("revert", stack, "drift"),
        detail=f"{what}; {failures} objects failed" if failures else what,
        agents=tuple(sorted({step.finding.agent for plan in done for step in plan.steps} - {""})),
        outcome=NOT_DONE if failures else DONE,
    )
    journal_of(find_project_root(), stack).add(record)


def plan_text(scan: Scan, *, as_json: bool, may_replace: bool) -> str:
    """What a revert would do, for people or as data."""
    plans = [plan for plan in plans_for(scan, may_replace=may_replace) if plan.steps]
    return plan_json(plans) if as_json else revert_plan_text(plans)


def plans_for(scan: Scan, *, may_replace: bool = False) -> list[ObjectPlan]:
    """What would be done about each object that drifted."""
    by_object: dict[ObjectRef, list[Finding]] = {}
    for finding in scan.report.drift:
        by_object.setdefault(finding.ref, []).append(finding)
    return [
        _plan(scan, ref, findings, may_replace=may_replace) for ref, findings in by_object.items()
    ]


def _plan(scan: Scan, ref: ObjectRef, findings: list[Finding], *, may_replace: bool) -> ObjectPlan:
    if findings[0].drift_class is DriftClass.MISSING:
        return plan_missing(findings[0], scan.desired[ref.identity])
    live = scan.live.objects.get(ref.identity)
    if live is None:
        return plan_nothing(findings, "the rule has ended: renew it or remove it")
    is_recorded = ref.identity in (scan.around.baseline or {})
    if not is_recorded and (engine := engine_of(live)):
        return plan_nothing(findings, left_to(engine))
    desired = scan.desired.get(ref.identity, {"metadata": {}})
    structure = scan.around.structure_of(ref, live)
    return plan_object(findings, desired, live, structure, may_replace=may_replace)


def _creation_order(plan: ObjectPlan) -> tuple[int, ObjectRef]:
    """Namespaces and definitions first: the rest is made inside them."""
    first = {"Namespace": 0, "CustomResourceDefinition": 1}
    return (first.get(plan.ref.kind, 2), plan.ref)
