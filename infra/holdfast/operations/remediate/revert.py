"""Drift is reverted: planned from a scan, applied once a person has agreed, verified, recorded."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from msgspec.structs import replace

from holdfast.adapters.engine.update_record import DONE, NOT_DONE
from holdfast.drift.cause.owners import engine_of, left_to
from holdfast.drift.finding import DriftClass, Finding
from holdfast.drift.plan.revert import ObjectPlan, plan_missing, plan_nothing, plan_object
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.objects import ObjectRef
from holdfast.operations.progress import Progress
from holdfast.operations.remediate.revert_executor import RevertExecutor
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.update_history import action_record, journal_of


@dataclass(frozen=True)
class RevertPlan:
    """What a revert would do.

    Attributes:
        scan: That it was planned from.
        objects: One plan for each object of which something is done or left alone.
    """

    scan: Scan
    objects: tuple[ObjectPlan, ...]

    @property
    def acting(self) -> tuple[ObjectPlan, ...]:
        """The plans by which something is written."""
        return tuple(plan for plan in self.objects if plan.acts)


@dataclass(frozen=True)
class RevertOutcome:
    """What came of a revert.

    Attributes:
        scan: The whole scan that verified it.
        failures: How many objects could not be reverted.
    """

    scan: Scan
    failures: int = 0


def plan_revert(scan: Scan, *, may_replace: bool = False) -> RevertPlan:
    """What would be done about the findings of a scan; nothing is written."""
    plans = plans_for(scan, may_replace=may_replace)
    return RevertPlan(scan, tuple(plan for plan in plans if plan.steps))


def apply_revert(scanner: Scanner, plan: RevertPlan, progress: Progress) -> RevertOutcome:
    """Do what was shown and agreed to, record it, and scan again.

    What was done before an error or an interrupt is recorded, too.

    Raises:
        LoginError: the API server does not accept the credentials any more.
        EngineError: an update of the stack is under way.
    """
    executor = RevertExecutor(scanner, plan.scan, progress)
    with _locked(scanner), _recorded(scanner, plan) as done:
        for each in sorted(plan.acting, key=_creation_order):
            try:
                progress.step(f"{executor.apply(each)}: {each.ref}")
                done.reverted.append(each)
            except LoginError:
                raise
            except ClusterError as error:
                done.failures += 1
                progress.step(f"failed: {each.ref}: {error}")
    return RevertOutcome(scanner.scan(agent=plan.scan.agent), done.failures)


@dataclass
class _Done:
    """What has been done so far."""

    reverted: list[ObjectPlan] = field(default_factory=list)
    failures: int = 0


@contextmanager
def _locked(scanner: Scanner) -> Iterator[None]:
    """Keep updates of the stack away; plain objects have none."""
    if not scanner.request.stack:
        yield
        return
    with scanner.stack.context.locked():
        yield


@contextmanager
def _recorded(scanner: Scanner, plan: RevertPlan) -> Iterator[_Done]:
    """Record in the history of a stack what was reverted, however the revert ends."""
    done = _Done()
    try:
        yield done
    except BaseException as error:
        # An interrupt is one: what was written before it is written all the same.
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        _record(scanner, done, f"ended early: {why}; of {len(plan.acting)} objects")
        raise
    _record(scanner, done)


def _record(scanner: Scanner, done: _Done, ended: str = "") -> None:
    stack = scanner.request.stack
    if not stack or not (done.reverted or done.failures or ended):
        return
    parts = [f"reverted {', '.join(str(plan.ref) for plan in done.reverted) or 'nothing'}"]
    if done.failures:
        parts.append(f"{done.failures} objects failed")
    if ended:
        parts.append(ended)
    agents = {step.finding.agent for plan in done.reverted for step in plan.steps}
    record = replace(
        action_record("revert", stack, "drift"),
        detail="; ".join(parts),
        agents=tuple(sorted(agents - {""})),
        outcome=NOT_DONE if done.failures or ended else DONE,
    )
    journal_of(scanner.request.project_root, stack).add(record)


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
    is_recorded = ref.identity in (scan.context.baseline or {})
    if not is_recorded and (engine := engine_of(live)):
        return plan_nothing(findings, left_to(engine))
    desired = scan.desired.get(ref.identity, {"metadata": {}})
    structure = scan.context.structure_of(ref, live)
    return plan_object(findings, desired, live, structure, may_replace=may_replace)


def _creation_order(plan: ObjectPlan) -> tuple[int, ObjectRef]:
    """Namespaces and definitions first: the rest is made inside them."""
    first = {"Namespace": 0, "CustomResourceDefinition": 1}
    return (first.get(plan.ref.kind, 2), plan.ref)
