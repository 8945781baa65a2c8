"""A policy report as a Prometheus text file, for a collector of text files."""

from collections import Counter

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from holdfast.operations.policy.model import PolicyReport


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
