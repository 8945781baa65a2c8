"""One scan as a Prometheus text file, under the names that a watch uses, too.

For a collector of text files: what a scheduled `holdfast drift` found last.
"""

from collections import Counter

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from holdfast.drift.finding import DriftClass, DriftReport, Severity
from holdfast.kube.scalars import parse_timestamp
from holdfast.operations.scan.scan_context import DriftContext
from holdfast.report.exchange.metric_names import METRICS


def prometheus_text(report: DriftReport, context: DriftContext) -> str:
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


def _oldest(report: DriftReport, context: DriftContext) -> dict[Severity, int] | None:
    """Age of the oldest finding of each severity; None when no history is kept."""
    ages: dict[Severity, int] = {}
    for finding in report.findings:
        history = context.history_of(finding)
        if history is None:
            return None
        ages[finding.severity] = max(history.age_seconds, ages.get(finding.severity, 0))
    return ages
