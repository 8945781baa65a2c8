import re
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from holdfast.controllers.watch.metrics import DriftMetrics, MetricsFile
from holdfast.drift.finding import DriftClass, Finding, NotChecked, Severity
from holdfast.drift.record.ledger import FindingEvent, Timestamp, Transition
from holdfast.drift.record.watch_report import Evaluation, Reading, Status, WatchState
from holdfast.kube.objects import ObjectRef
from holdfast.report.exchange.prometheus import METRICS
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

DOCUMENTATION = Path(__file__).parents[4] / "docs" / "watch.md"
REF = ObjectRef("cx", "ConfigMap", "one", "v1")


def finding(severity: Severity) -> Finding:
    return Finding(REF, "support", DriftClass.CHANGED, ("data", "a"), "b", "c", severity)


def at(ago: float) -> Timestamp:
    return Timestamp(time.monotonic() - ago, datetime.now(UTC))


def samples(metrics: DriftMetrics) -> dict[str, float]:
    text = generate_latest(metrics.registry).decode()
    return {
        f"{sample.name}{sorted(sample.labels.items())}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_findings_are_counted_by_class_and_severity_with_the_age_of_the_oldest() -> None:
    metrics = DriftMetrics("dev")
    opened = [(finding(Severity.HIGH), at(60)), (finding(Severity.HIGH), at(5))]
    metrics.status_changed(WatchState(Status.DRIFT, (), 2, 40), opened)
    seen = samples(metrics)
    labels = [("class", "changed"), ("severity", "high"), ("stack", "dev")]
    assert seen[f"holdfast_drift_findings{labels}"] == 2
    age = seen[f"holdfast_drift_oldest_finding_age_seconds{labels[1:]}"]
    assert age == pytest.approx(60, abs=2)
    metrics.status_changed(WatchState(Status.IN_SYNC, (), 0, 40), [])
    seen = samples(metrics)
    assert seen[f"holdfast_drift_findings{labels}"] == 0
    assert seen[f"holdfast_drift_oldest_finding_age_seconds{labels[1:]}"] == 0


def test_blind_is_not_complete_and_no_success() -> None:
    metrics = DriftMetrics("dev")
    metrics.status_changed(WatchState(Status.UNKNOWN, (NotChecked("x", "y"),), 0, 40), [])
    seen = samples(metrics)
    stack = [("stack", "dev")]
    assert seen[f"holdfast_drift_complete{stack}"] == 0
    assert f"holdfast_drift_last_success_timestamp_seconds{stack}" not in seen
    metrics.status_changed(WatchState(Status.IN_SYNC, (), 0, 40), [])
    success = samples(metrics)[f"holdfast_drift_last_success_timestamp_seconds{stack}"]
    assert success == pytest.approx(time.time(), abs=5)


def test_evaluations_readings_restarts_and_deliveries_are_counted() -> None:
    metrics = DriftMetrics("dev")
    turn = FindingEvent(Transition.OPENED, finding(Severity.LOW), at(0), at(0))
    metrics.evaluated(Evaluation("a", REF, at(1), 1, at(0), at(0), (turn,)))
    metrics.read(Reading("ConfigMap in cx", 7, 3, 0.5))
    metrics.restarted("ConfigMap", "cut off")
    metrics.count_delivery("lost")
    seen = samples(metrics)
    stack = ("stack", "dev")
    assert seen[f"holdfast_drift_evaluations_total{[stack]}"] == 1
    assert seen[f"holdfast_drift_scanned_objects_total{[stack]}"] == 7
    assert seen[f"holdfast_drift_scan_seconds_sum{[stack]}"] == 0.5
    assert seen[f"holdfast_drift_finding_transitions_total{[stack, ('transition', 'opened')]}"] == 1
    assert seen[f"holdfast_drift_watch_restarts_total{[('kind', 'ConfigMap'), stack]}"] == 1
    assert seen[f"holdfast_drift_webhook_deliveries_total{[('outcome', 'lost'), stack]}"] == 1


def test_every_metric_is_documented_and_nothing_else_is() -> None:
    documented = set(re.findall(r"^\| `(holdfast_drift_\w+)`", DOCUMENTATION.read_text(), re.M))
    assert documented == set(METRICS)


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    file = tmp_path / "drift.prom"
    metrics = DriftMetrics("dev")
    written = MetricsFile(metrics, file)
    metrics.status_changed(WatchState(Status.IN_SYNC, (), 0, 40), [])
    written.write_if_due()
    assert "holdfast_drift_objects{" not in file.read_text(), "not due yet"
    written.write()
    assert 'holdfast_drift_objects{stack="dev"} 40.0' in file.read_text()
    assert [each.name for each in tmp_path.iterdir()] == ["drift.prom"]
