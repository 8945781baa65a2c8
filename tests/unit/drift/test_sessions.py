"""Who entered a pod: told with everybody who did, as long as the pod lives."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from holdfast.drift.cause.attribution import AuditTrail, session_findings
from holdfast.drift.finding import Severity
from holdfast.kube.audit import AuditEvent
from holdfast.kube.objects import KubeObject
from holdfast.kube.paths import format_path

POD: KubeObject = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "support-1",
        "namespace": "cx",
        "labels": {"holdfast.dev/agent": "support"},
        "creationTimestamp": "2026-11-21T10:00:00Z",
    },
}


def entered(
    way: str, *, hour: int = 11, user: str = "alice", name: str = "support-1"
) -> AuditEvent:
    time = datetime(2026, 11, 21, hour, tzinfo=UTC)
    return AuditEvent(time, "create", "", "pods", way, "cx", name, user, "kubectl", "kubectl/1.36")


@pytest.mark.parametrize(
    ("way", "path"),
    [
        pytest.param("exec", "exec", id="exec"),
        pytest.param("attach", "attach", id="attach"),
        pytest.param("portforward", "portforward", id="port-forward"),
        pytest.param("ephemeralcontainers", "spec.ephemeralContainers", id="debug"),
    ],
)
def test_a_way_into_a_pod_is_a_remark_with_the_user(way: str, path: str) -> None:
    (found,) = session_findings([POD], AuditTrail.of([entered(way)]), {"cx"})
    assert (format_path(found.path), found.agent) == (path, "support")
    assert found.severity is Severity.INFO
    assert [actor.user for actor in found.actors] == ["alice"]
    assert found.actors[0].user_agent == "kubectl/1.36"


def test_everybody_is_named_the_latest_first() -> None:
    trail = AuditTrail.of([entered("exec"), entered("exec", hour=12, user="bob")])
    (found,) = session_findings([POD], trail, {"cx"})
    assert [actor.user for actor in found.actors] == ["bob", "alice"]


def test_the_begin_and_the_end_of_a_session_are_one() -> None:
    began, ended = (replace(entered("exec", hour=hour), identifier="a-1") for hour in (11, 12))
    (found,) = session_findings([POD], AuditTrail.of([began, ended]), {"cx"})
    assert [actor.time for actor in found.actors] == ["2026-11-21T11:00:00Z"]


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(entered("exec", hour=9), id="before this pod was made"),
        pytest.param(entered("exec", name="other"), id="another pod"),
        pytest.param(entered("log"), id="reading the log"),
    ],
)
def test_nothing_else_is_told(event: AuditEvent) -> None:
    assert list(session_findings([POD], AuditTrail.of([event]), {"cx"})) == []
    assert list(session_findings([POD], AuditTrail.of([entered("exec")]), {"dev"})) == []
