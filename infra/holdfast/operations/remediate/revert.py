"""Drift is reverted: planned from a scan, applied once a person has agreed, verified, recorded."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from typing import Final

from msgspec.structs import replace

from holdfast.adapters.engine.update_record import DONE, NOT_DONE
from holdfast.drift.cause.owners import engine_of, left_to
from holdfast.drift.context import was_deployed
from holdfast.drift.finding import FIELD_CLASSES, DriftClass, Finding, NextUpdate
from holdfast.drift.made_objects import MADE_KINDS
from holdfast.drift.object_drift import object_findings
from holdfast.drift.plan.deployed import undeployed_paths
from holdfast.drift.plan.gates import closed_gate
from holdfast.drift.plan.revert import ObjectPlan, plan_missing, plan_nothing, plan_object
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import Path
from holdfast.operations.progress import Progress
from holdfast.operations.remediate.revert_executor import RevertExecutor
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.update_history import action_record, journal_of

_JOB: Final = "Job"
"""A gate itself: recreated, it runs again, and nothing passes it by."""

_MADE: Final = "made by its controller: delete it, and the controller recreates it as declared"
_NOT_DEPLOYED: Final = "declared, not deployed: run `holdfast up`"


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
        done.confirmed = executor.confirmed
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
    confirmed: list[str] = field(default_factory=list)


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
        confirmed=tuple(done.confirmed),
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
    waiting = [each for each in findings if each.next_update is NextUpdate.DEPLOYS]
    others = [each for each in findings if each.next_update is not NextUpdate.DEPLOYS]
    if not others:
        return plan_nothing(waiting, _NOT_DEPLOYED)
    plan = _checked_plan(scan, ref, others, may_replace=may_replace)
    left = plan_nothing(waiting, _NOT_DEPLOYED).steps if waiting else ()
    return dataclass_replace(plan, steps=(*plan.steps, *left))


def _checked_plan(
    scan: Scan, ref: ObjectRef, findings: list[Finding], *, may_replace: bool
) -> ObjectPlan:
    """A plan that the gates of the agent and the policy pack let pass, else nothing."""
    is_made = ref.identity.group_kind in MADE_KINDS and ref.identity not in scan.desired
    if is_made and findings[0].drift_class in FIELD_CLASSES:
        return plan_nothing(findings, _MADE)
    plan = _unchecked_plan(scan, ref, findings, may_replace=may_replace)
    if plan.requests and (rules := _rules_broken_by(scan, plan)):
        return plan_nothing(findings, f"what would be written breaks {', '.join(rules)}")
    if not plan.restarts_pods or ref.kind == _JOB:
        return plan
    targets = _targets_of_jobs(scan)
    gate = closed_gate(scan.desired.get(ref.identity, {}), targets, scan.live.objects)
    if gate is None:
        return plan
    reason = f"{gate.kind} {gate.namespace}/{gate.name} has not succeeded for the declared version"
    return plan_nothing(findings, f"{reason}: run `holdfast up`, which waits for it")


def _targets_of_jobs(scan: Scan) -> dict[Identity, KubeObject]:
    """The gates of what is restored: a check that no update has deployed yet is none of them."""
    jobs = {each: one for each, one in scan.desired.items() if each.kind == _JOB}
    baseline = scan.context.baseline
    return {
        identity: scan.target(reference_of(one))
        for identity, one in jobs.items()
        if baseline is None or was_deployed(baseline, identity)
    }


def _rules_broken_by(scan: Scan, plan: ObjectPlan) -> list[str]:
    """Mandatory rules that an object breaks after the revert and not before it."""
    judge = scan.context.judge
    if judge is None or plan.ref.identity not in scan.desired:
        return []
    live = scan.live.objects.get(plan.ref.identity)
    before = {} if live is None else judge(live)
    after = judge(scan.target(plan.ref))
    return sorted(name for name, rule in after.items() if rule.is_mandatory and name not in before)


def _unchecked_plan(
    scan: Scan, ref: ObjectRef, findings: list[Finding], *, may_replace: bool
) -> ObjectPlan:
    if findings[0].drift_class is DriftClass.MISSING:
        return plan_missing(findings[0], scan.target(ref))
    live = scan.live.objects.get(ref.identity)
    if live is None:
        return plan_nothing(findings, "the rule has ended: renew it or remove it")
    is_recorded = ref.identity in (scan.context.baseline or {})
    if not is_recorded and (engine := engine_of(live)):
        return plan_nothing(findings, left_to(engine))
    declared = scan.desired.get(ref.identity)
    structure = scan.context.structure_of(ref, live)
    if declared is None:
        return plan_object(findings, {"metadata": {}}, live, structure, may_replace=may_replace)
    undeployed = undeployed_paths(ref, declared, scan.context)
    if not undeployed:
        return plan_object(findings, declared, live, structure, may_replace=may_replace)
    target = scan.target(ref)
    findings = _about(findings, object_findings(ref, target, live, scan.context)) or findings
    plan = plan_object(findings, target, live, structure, may_replace=may_replace)
    return dataclass_replace(plan, undeployed=tuple(dict.fromkeys((*undeployed, *plan.undeployed))))


def _about(shown: list[Finding], found: list[Finding]) -> list[Finding]:
    """Findings against what was deployed, as far as the scan has shown something there."""
    paths = [each.path for each in shown]
    return [
        each for each in found if each.is_drift and any(_meet(each.path, path) for path in paths)
    ]


def _meet(first: Path, second: Path) -> bool:
    length = min(len(first), len(second))
    return first[:length] == second[:length]


def _creation_order(plan: ObjectPlan) -> tuple[int, ObjectRef]:
    """Namespaces and definitions first: the rest is made inside them."""
    first = {"Namespace": 0, "CustomResourceDefinition": 1}
    return (first.get(plan.ref.kind, 2), plan.ref)
