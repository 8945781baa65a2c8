"""What an update that was killed leaves unknown: told whether it is still declared or not."""

import json

from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import DriftReport, NotChecked
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.operations.scan.desired import DesiredState
from holdfast.report.documents.drift import drift_json
from holdfast.report.text.drift_text import drift_text

DECLARED: KubeObject = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "cx"},
    "data": {"x": "1"},
}
GOING = ObjectRef("cx", "Service", "gone", "v1")
LEFT = "an interrupted update left it unfinished"


def report_of(*others: NotChecked) -> DriftReport:
    """Of a cluster in which the object has moved, while an update has left it and another one."""
    desired = DesiredState(
        (DECLARED,), stack="dev", pending=(reference_of(DECLARED), GOING), not_checked=others
    )
    judge = DriftJudge([DECLARED], DriftContext(autoscalers=Autoscalers([DECLARED])))
    live = LiveState({reference_of(DECLARED).identity: {**DECLARED, "data": {"x": "2"}}})
    return judge.report(desired.without_in_flight(live, judge.declared))


def test_half_done_is_neither_drift_nor_in_sync() -> None:
    report = report_of()
    document = json.loads(drift_json(report))
    assert (document["complete"], document["findings"]) == (False, [])
    assert [each["scope"] for each in document["notChecked"]] == [
        "ConfigMap cx/a",
        "Service cx/gone",
    ]
    assert all(LEFT in each["reason"] for each in document["notChecked"])
    text = drift_text(report)
    assert "NOT CHECKED  Service cx/gone: " in text
    assert text.endswith("no drift seen (0 objects checked); INCOMPLETE: 2 things not checked\n")


def test_an_update_under_way_is_reported_beside_it() -> None:
    running = NotChecked("stack dev", "alice is changing it")
    assert running in report_of(running).not_checked
