"""Drift and policy as Prometheus text files, under the names that a watch uses, too.

For a collector of text files: what a scheduled scan or check found last.
Source: Prometheus documentation, "Metric and label naming", "Exposition formats".
"""

from collections import Counter
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from holdfast.drift.finding import DriftClass, DriftReport, Severity
from holdfast.kube.scalars import parse_timestamp
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.scan.scan_context import ReportContext

METRICS: Final = {
    "holdfast_drift_objects": "Declared objects that are watched.",
    "holdfast_drift_findings": "Open findings, by class and severity; severity info is no drift.",
    "holdfast_drift_oldest_finding_age_seconds": "Age of the oldest open finding, by severity.",
    "holdfast_drift_complete": "1 while everything that is declared can be seen, else 0.",
    "holdfast_drift_last_success_timestamp_seconds": "When everything was last read and compared.",
    "holdfast_drift_evaluations_total": "Objects compared because of a change.",
    "holdfast_drift_detection_seconds": "From the first event of a change to its result.",
    "holdfast_drift_scanned_objects_total": "Objects decoded and compared in lists.",
    "holdfast_drift_scan_seconds": "Duration of listing and comparing one kind in one namespace.",
    "holdfast_drift_finding_transitions_total": "Findings opened, changed and closed.",
    "holdfast_drift_watch_restarts_total": "Streams that had to begin again, by kind.",
    "holdfast_drift_webhook_deliveries_total": "Events handed to the webhook: delivered, lost.",
}
"""Name to meaning; every metric has the label `stack`."""


def prometheus_text(report: DriftReport, context: ReportContext) -> str:
    """The gauges of one scan; ages are there when a history is kept.

    An incomplete scan leaves the time of the last success out: no alert on its age is fooled.
    """
    registry = CollectorRegistry()

    def gauge(name: str, *labels: str) -> Gauge:
        return Gauge(name, METRICS[name], ("stack", *labels), registry=registry)

    stack = context.stack
    if report.objects_checked is not None:
        gauge("holdfast_drift_objects").labels(stack).set(report.objects_checked)
    gauge("holdfast_drift_complete").labels(stack).set(report.is_complete)
    if report.is_complete and context.observed_at:
        seconds = parse_timestamp(context.observed_at).timestamp()
        gauge("holdfast_drift_last_success_timestamp_seconds").labels(stack).set(seconds)
    tally = Counter((each.drift_class, each.severity) for each in report.findings)
    findings = gauge("holdfast_drift_findings", "class", "severity")
    for drift_class in DriftClass:
        for severity in Severity:
            labels = (stack, drift_class.value, severity.value)
            findings.labels(*labels).set(tally[drift_class, severity])
    ages = _oldest(report, context)
    if ages is not None:
        age = gauge("holdfast_drift_oldest_finding_age_seconds", "severity")
        for severity in Severity:
            age.labels(stack, severity.value).set(ages.get(severity, 0))
    return generate_latest(registry).decode()


def _oldest(report: DriftReport, context: ReportContext) -> dict[Severity, int] | None:
    """Age of the oldest finding of each severity; None when no history is kept."""
    ages: dict[Severity, int] = {}
    for finding in report.findings:
        history = context.history_of(finding)
        if history is None:
            return None
        ages[finding.severity] = max(history.age_seconds, ages.get(finding.severity, 0))
    return ages


def policy_metrics(report: PolicyReport) -> str:
    """How many objects each rule passed, refused, warned about, waived or could not judge."""
    registry = CollectorRegistry()
    tally = Counter((rule, "passed") for each in report.objects for rule in each.passed)
    tally.update(
        (each.rule, each.level if each.verdict == "violated" else each.verdict.value)
        for each in report.findings
    )
    scope = report.identifier.partition("/")[2]
    results = Gauge(
        "holdfast_policy_results",
        "Results of policy rules, by rule and verdict.",
        ("scope", "rule", "verdict"),
        registry=registry,
    )
    for (rule, verdict), count in sorted(tally.items()):
        results.labels(scope, rule, verdict).set(count)
    complete = Gauge(
        "holdfast_policy_complete",
        "Whether every object could be read and every mandatory rule could decide.",
        ("scope",),
        registry=registry,
    )
    complete.labels(scope).set(report.is_complete)
    return generate_latest(registry).decode()
