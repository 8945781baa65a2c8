"""Pulumi's refresh beside the scan: which findings it saw too, and what only it reports."""

from typing import Any

import pytest
from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import DriftClass, DriftReport, Finding, Severity
from holdfast.drift.object_drift import object_findings
from holdfast.drift.refresh_preview import RefreshDifference, RefreshPreview, with_refresh_preview
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.paths import format_path

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, GONE, identity, live_of

AROUND = DriftContext(autoscalers=Autoscalers(()))
INDEXED = "spec.template.spec.containers[0]"
TAP = {"name": "tap", "image": "t:1"}


def report_of(live: KubeObject | None, *told: str, **view: Any) -> DriftReport:
    """The scan of one Deployment with what the engine tells of it: `update path`."""
    key = identity(DEPLOYMENT)
    objects = {} if live is None else {key: live}
    differences = tuple(RefreshDifference(*reversed(each.split(" "))) for each in told)
    engine = RefreshPreview(**{"differences": {key: differences}, **view})
    report = DriftJudge([DEPLOYMENT], AROUND).report(LiveState(objects))
    return with_refresh_preview(report, engine, {key: DEPLOYMENT}, objects, AROUND)


def seen(report: DriftReport) -> dict[str, tuple[str, ...]]:
    return {format_path(each.path): each.seen_by for each in report.findings}


BOTH, SCAN_ONLY, PULUMI_ONLY = ("holdfast", "pulumi"), ("holdfast",), ("pulumi",)


@pytest.mark.parametrize(
    ("edits", "told", "expected"),
    [
        pytest.param(
            {f"{CONTAINER}.image": "evil:1"},
            [f"update {INDEXED}.image"],
            {f"{CONTAINER}.image": BOTH},
            id="a value, by index there and by key here",
        ),
        pytest.param(
            {f"{CONTAINER}.env[name=NEW]": {"name": "NEW", "value": "1"}},
            [],
            {f"{CONTAINER}.env[name=NEW]": SCAN_ONLY},
            id="an addition, which it cannot see",
        ),
        pytest.param(
            {
                f"{CONTAINER}.env[name=HOST].value": "evil",
                f"{CONTAINER}.env[name=NEW]": {"name": "NEW", "value": "1"},
            },
            [f"update {INDEXED}.env[0].value"],
            {f"{CONTAINER}.env[name=HOST].value": BOTH, f"{CONTAINER}.env[name=NEW]": SCAN_ONLY},
            id="an addition beside a change is not seen by it",
        ),
        pytest.param(
            {f"{CONTAINER}.env[name=URL]": GONE},
            [f"delete {INDEXED}.env"],
            {f"{CONTAINER}.env[name=URL]": BOTH},
            id="it names the whole list for one removed item",
        ),
        pytest.param(
            {'metadata.labels["tier"]': "back"},
            ['update metadata.labels["tier"]'],
            {"metadata.labels.tier": BOTH},
            id="quoted keys",
        ),
        pytest.param(
            {},
            [f"update {INDEXED}.image"],
            {f"{CONTAINER}.image": PULUMI_ONLY},
            id="what the scan finds equal",
        ),
    ],
)
def test_a_finding_is_seen_by_pulumi_where_its_refresh_reports_the_same_place(
    edits: dict[str, Any], told: list[str], expected: dict[str, tuple[str, ...]]
) -> None:
    assert seen(report_of(live_of(DEPLOYMENT, edits), *told)) == expected


def test_an_item_inserted_first_takes_the_blame_that_pulumi_puts_on_those_behind() -> None:
    live = live_of(DEPLOYMENT)
    containers = live["spec"]["template"]["spec"]["containers"]
    containers.insert(0, TAP)
    report = report_of(live, f"update {INDEXED}.image", f"delete {INDEXED}.env")
    assert seen(report) == {"spec.template.spec.containers[name=tap]": BOTH}


def test_a_deleted_object_is_seen_by_both() -> None:
    report = report_of(None, gone=frozenset({identity(DEPLOYMENT)}))
    assert [(each.drift_class, each.seen_by) for each in report.findings] == [
        (DriftClass.MISSING, BOTH)
    ]


def test_what_only_pulumi_reports_is_a_remark_with_its_values() -> None:
    (remark,) = report_of(live_of(DEPLOYMENT), "update spec.replicas").findings
    assert remark.severity is Severity.INFO
    assert (remark.desired, remark.live) == (2, 2)


def test_no_finding_of_the_scan_is_lost() -> None:
    live = live_of(DEPLOYMENT, {f"{CONTAINER}.image": "evil:1", "spec.paused": True})
    scanned = object_findings(reference_of(DEPLOYMENT), DEPLOYMENT, live, AROUND)
    joined = report_of(live, f"update {INDEXED}.image").findings

    def bare(found: Finding) -> tuple[str, str]:
        return (found.drift_class.value, format_path(found.path))

    assert {bare(each) for each in scanned} == {bare(each) for each in joined}
