"""A record that a refresh has rewritten: what it has wrong is a finding of its own."""

from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import DriftReport, ExpectedBy, Severity
from holdfast.drift.refresh_preview import with_record_findings
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.objects import KubeObject

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit, identity, live_of, summary

IMAGE = f"{CONTAINER}.image"
GOOD = live_of(DEPLOYMENT)
EVIL = live_of(DEPLOYMENT, {IMAGE: "evil:1"})
AROUND = DriftContext(autoscalers=Autoscalers(()), baseline={identity(DEPLOYMENT): GOOD})


def judged(live: KubeObject, recorded: KubeObject) -> DriftReport:
    key = identity(DEPLOYMENT)
    report = DriftJudge([DEPLOYMENT], AROUND).report(LiveState({key: live}))
    return with_record_findings(report, [recorded], {key: DEPLOYMENT}, AROUND)


def test_what_the_record_took_in_and_the_cluster_no_longer_has_is_drift() -> None:
    (finding,) = judged(GOOD, EVIL).drift
    assert summary([finding]) == [("changed", IMAGE)]
    assert (finding.live, finding.expected_by) == ("evil:1", ExpectedBy.RECORD)
    assert finding.severity is Severity.LOW


def test_what_the_cluster_still_has_is_reported_once() -> None:
    (finding,) = judged(EVIL, EVIL).drift
    assert finding.expected_by is ExpectedBy.DECLARATION


def test_a_record_that_tells_the_same_says_nothing() -> None:
    assert judged(GOOD, edit(GOOD, {"metadata.resourceVersion": "9"})).findings == ()
