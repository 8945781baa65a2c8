"""Bad telemetry is refused at its place."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import Bad, assert_refused, bad, spec


def alert(fields: str) -> str:
    return spec(f"telemetry:\n  metrics:\n    alerts:\n      - {{{fields}}}")


CASES = [
    bad(
        "interval that is none",
        spec("telemetry: {metrics: {interval: often}}"),
        "7:35",
        "must be an integer and ms, s, m, h or d",
    ),
    bad(
        "unknown mode",
        spec("telemetry: {metrics: {serviceMonitor: always}}"),
        "7:41",
        "'auto', 'required' or 'off'",
    ),
    bad(
        "name with spaces",
        alert('name: "too slow", expr: up, summary: x'),
        "10:18",
        "expected a name of letters, digits and '_'",
    ),
    bad(
        "bracket without partner",
        alert('name: A, expr: "sum(rate(x[5m])", summary: x'),
        "10:27",
        "expected a PromQL expression, got '(' without its partner",
    ),
    bad(
        "brackets crossed",
        alert('name: A, expr: "sum(x]", summary: x'),
        "10:27",
        "got ']' without its partner",
    ),
    bad(
        "quote without partner",
        alert("name: A, expr: 'x{a=\"b} > 1', summary: x"),
        "10:27",
        'got a " without its partner',
    ),
    bad("alert without words", alert("name: A, expr: up"), "10:11", "summary"),
    bad(
        "severity in other words",
        alert("name: A, expr: up, summary: x, severity: page"),
        "10:53",
        "'critical', 'warning' or 'info'",
    ),
    bad(
        "two alerts of one name",
        spec(
            "telemetry:\n  metrics:\n    alerts:\n"
            "      - {name: A, expr: up, summary: x}\n      - {name: A, expr: up, summary: z}"
        ),
        "11:18",
        "names in alerts must be unique, got 'A' twice",
    ),
    bad(
        "alerts without metrics",
        spec(
            "telemetry:\n  metrics:\n    enabled: false\n"
            "    alerts: [{name: A, expr: up, summary: x}]"
        ),
        "10:15",
        "spec.telemetry.metrics.alerts: has no effect without metrics",
    ),
    bad(
        "objectives without metrics",
        spec("telemetry:\n  metrics: {enabled: false}\n  slo: {availability: 99}"),
        "9:5",
        "spec.telemetry.slo: has no effect without metrics",
    ),
    bad(
        "a promise of nothing",
        spec("telemetry: {slo: {}}"),
        "7:15",
        "expected at least one of availability, latency and toolSuccess",
    ),
    bad(
        "a promise that cannot be broken",
        spec("telemetry: {slo: {availability: 100}}"),
        "7:35",
        "spec.telemetry.slo.availability",
    ),
    bad(
        "a window of a day",
        spec("telemetry: {slo: {availability: 99, windowDays: 1}}"),
        "7:51",
        "from 7 to 90",
    ),
    bad(
        "latency without target",
        spec("telemetry: {slo: {latency: {thresholdMs: 100}}}"),
        "7:21",
        "target: this field is required",
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_bad_telemetry_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)
