"""What a refresh wrote over the record of the last update, as findings of its own. Pure.

The engine then compares with the drifted record and sees nothing. The record is judged like a live
object: what would be drift if it were live is drift that the record has taken in.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from holdfast.drift.finding import DriftReport, ExpectedBy, Finding, Objects, Severity
from holdfast.drift.object_drift import DriftContext, field_findings
from holdfast.kube.objects import KubeObject, reference_of


def with_record_findings(
    report: DriftReport, recorded: Iterable[KubeObject], desired: Objects, context: DriftContext
) -> DriftReport:
    """The report with one finding a field that only the rewritten record still has wrong.

    Args:
        report: Of the scan.
        recorded: Objects as the newest checkpoint has them, where a refresh wrote it.
        desired: Declared objects by identity.
        context: With the baseline of the last update.
    """
    known = {(each.ref.identity, each.path) for each in report.findings}
    stale = [
        each
        for one in recorded
        for each in _stale(one, desired, context)
        if (each.ref.identity, each.path) not in known
        and not (context.ignore and context.ignore.rule_for(each))
    ]
    if not stale:
        return report
    findings = sorted([*report.findings, *stale], key=lambda finding: finding.sort_key)
    return replace(report, findings=tuple(findings))


def _stale(recorded: KubeObject, desired: Objects, context: DriftContext) -> Iterator[Finding]:
    ref = reference_of(recorded)
    wanted = desired.get(ref.identity)
    if wanted is None:
        return
    for each in field_findings(ref, dict(wanted), recorded, context):
        if each.counts:
            yield replace(
                each,
                severity=Severity.LOW,
                policies=(),
                expected_by=ExpectedBy.RECORD,
                next_update=None,
            )
