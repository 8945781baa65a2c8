"""`holdfast drift --plan, --revert, --act, --adopt, --ignore`: planned, shown, agreed to, done."""

import click

from holdfast.cli.drift.detect import exit_code, report, request_of
from holdfast.cli.drift.options import DriftOptions
from holdfast.cli.options.confirm import confirm
from holdfast.cli.options.progress import TERMINAL
from holdfast.errors import ExitCode
from holdfast.kube.paths import format_path
from holdfast.operations.remediate.adopt import (
    Adoption,
    commit_adoption,
    plan_adoption,
    write_adoption,
)
from holdfast.operations.remediate.by_mode import apply_by_mode, plan_by_mode
from holdfast.operations.remediate.ignore import IgnoreRequest, plan_ignore
from holdfast.operations.remediate.revert import RevertPlan, apply_revert, plan_revert
from holdfast.operations.remediate.selection import with_only
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.tracing import traced_scan
from holdfast.report.text.revert_text import plan_json, revert_plan_text


def remediate(asked: DriftOptions) -> ExitCode:
    """Scan, do what is asked about what was found, and report the scan that shows the outcome."""
    request, wanted = request_of(asked.compared), asked.remediation
    with traced_scan(request.stack, TERMINAL) as span:
        scanner = Scanner(request, TERMINAL)
        scan = scanner.run(engine=False)
        if wanted.plan or wanted.adopt:
            chosen = with_only(scan, wanted.only)
            text = _plan(chosen, asked) if wanted.plan else _adopt(scanner, chosen, asked)
            click.echo(text, nl=False)
            return exit_code(scan, span)
        failures = 0
        if wanted.ignore:
            scan = _ignore(scanner, scan, asked)
        elif wanted.act:
            scan, failures = _act(scanner, scan, asked)
        else:
            scan, failures = _revert(scanner, scan, asked)
        report(scanner, scan, asked)
        return exit_code(scan, span, failures)


def _plan(scan: Scan, asked: DriftOptions) -> str:
    plan = plan_revert(scan, may_replace=asked.remediation.allow_replace)
    is_json = asked.report.output == "json"
    return plan_json(plan.objects) if is_json else revert_plan_text(plan.objects)


def _adopt(scanner: Scanner, scan: Scan, asked: DriftOptions) -> str:
    adoption, request = plan_adoption(scanner, scan), scanner.request
    _show_refused(adoption)
    if asked.remediation.write:
        write_adoption(request.project_root, adoption)
        for file in adoption.files:
            TERMINAL.step(f"wrote {file}")
    branch = asked.remediation.branch
    if branch and adoption.files:
        commit = commit_adoption(request.project_root, adoption, request.stack, branch)
        TERMINAL.step(f"committed {commit[:12]} on branch {branch}")
    return adoption.diff


def _show_refused(adoption: Adoption) -> None:
    for finding, reason in adoption.refused:
        name = f"{finding.ref} {format_path(finding.path)}".rstrip()
        TERMINAL.step(f"not adopted: {name}: {reason}")


def _ignore(scanner: Scanner, scan: Scan, asked: DriftOptions) -> Scan:
    wanted = asked.remediation
    ignored = IgnoreRequest(wanted.ignore, wanted.reason, wanted.owner, wanted.expires)
    plan = plan_ignore(scanner.request, scan, ignored)
    plan.apply()
    TERMINAL.step(f"{plan.name}: added {plan.added} {'rule' if plan.added == 1 else 'rules'}")
    return Scanner(scanner.request, TERMINAL).scan()


def _revert(scanner: Scanner, scan: Scan, asked: DriftOptions) -> tuple[Scan, int]:
    wanted = asked.remediation
    plan = plan_revert(with_only(scan, wanted.only), may_replace=wanted.allow_replace)
    _show(plan)
    if not plan.acting:
        return scan, 0
    confirm("Put these back?", is_confirmed=wanted.yes)
    outcome = apply_revert(scanner, plan, TERMINAL)
    return outcome.scan, outcome.failures


def _act(scanner: Scanner, scan: Scan, asked: DriftOptions) -> tuple[Scan, int]:
    wanted = asked.remediation
    chosen = with_only(scan, wanted.only)
    plan = plan_by_mode(scanner, chosen, may_replace=wanted.allow_replace)
    if plan.adoption is not None:
        _show_refused(plan.adoption)
    if plan.revert.scan.report.drift:
        _show(plan.revert)
    if plan.revert.acting:
        confirm("Put these back?", is_confirmed=wanted.yes)
    outcome = apply_by_mode(scanner, plan, wanted.branch, TERMINAL)
    return outcome.scan or scan, outcome.failures


def _show(plan: RevertPlan) -> None:
    click.echo(revert_plan_text(plan.objects), nl=False, err=True)
