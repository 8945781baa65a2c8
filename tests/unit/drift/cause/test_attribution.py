"""Who may have caused a finding."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from holdfast.drift.cause.attribution import (
    AuditTrail,
    Evidence,
    is_deployer,
    session_findings,
    with_sessions,
)
from holdfast.drift.finding import Actor, DriftClass, DriftReport, EvidenceSource, Severity
from holdfast.kube.audit import AuditEvent
from holdfast.kube.managed_fields import ManagerEntry
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.paths import format_path, parse_path

REF = ObjectRef("cx", "Deployment", "support", "apps/v1")
ALICE, BOB, CI = "alice@example.test", "bob@example.test", "system:serviceaccount:ci:deployer"


def at(minute: int, second: int = 0) -> datetime:
    return datetime(2026, 11, 21, 10, minute, second, tzinfo=UTC)


def event(
    minute: int, user: str, manager: str, verb: str = "patch", *, second: int = 0, sub: str = ""
) -> AuditEvent:
    return AuditEvent(
        at(minute, second), verb, "apps", "deployments", sub, "cx", "support", user, manager
    )


def entry(
    manager: str, minute: int = 5, subresource: str = "", *, timed: bool = True
) -> ManagerEntry:
    time = f"2026-11-21T10:{minute:02d}:00Z" if timed else ""
    return ManagerEntry(manager, "Update", subresource, time)


def users(actors: tuple[Actor, ...]) -> list[tuple[str, str]]:
    return [(actor.manager, actor.user) for actor in actors]


def test_without_a_log_the_manager_is_a_hint_and_the_user_unknown() -> None:
    (actor,) = Evidence().actors_of_field([entry("kubectl-set")], leaves_owner=True, is_wiped=False)
    assert actor == Actor("kubectl-set", "Update", "", "2026-11-21T10:05:00Z")
    assert actor.source is EvidenceSource.MANAGED_FIELDS


@pytest.mark.parametrize(
    ("events", "user"),
    [
        pytest.param([event(5, ALICE, "kubectl-set")], ALICE, id="same manager and time"),
        pytest.param([event(5, ALICE, "kubectl-set", second=1)], ALICE, id="a second late"),
        pytest.param([event(9, ALICE, "kubectl-set")], "", id="another time"),
        pytest.param([event(5, ALICE, "kubectl-edit")], "", id="another manager"),
        pytest.param([event(5, ALICE, "kubectl-set", sub="scale")], "", id="another subresource"),
        pytest.param(
            [event(1, ALICE, "kubectl-set"), event(5, BOB, "kubectl-set")], BOB, id="nearest"
        ),
        pytest.param([event(5, ALICE, "kubectl-set", "delete")], "", id="no write of fields"),
    ],
)
def test_the_log_names_the_user_of_the_write_that_an_owner_tells_of(
    events: list[AuditEvent], user: str
) -> None:
    evidence = Evidence(tuple(events))
    found = evidence.actors_of_field([entry("kubectl-set")], leaves_owner=True, is_wiped=False)
    assert users(found) == [("kubectl-set", user)]


def test_an_entry_without_time_takes_the_latest_write_of_its_manager() -> None:
    evidence = Evidence(
        (event(1, BOB, "kubectl", sub="scale"), event(7, ALICE, "kubectl", sub="scale"))
    )
    owners = [entry("kubectl", subresource="scale", timed=False)]
    (actor,) = evidence.actors_of_field(owners, leaves_owner=True, is_wiped=False)
    assert (actor.user, actor.time) == (ALICE, "2026-11-21T10:07:00Z")


def test_the_deployer_is_named_only_where_nobody_else_owns_the_field() -> None:
    owners = [entry("pulumi-kubernetes-0a1b2c3d"), entry("kubectl-set")]
    evidence = Evidence()
    both = evidence.actors_of_field(owners, leaves_owner=True, is_wiped=False)
    alone = evidence.actors_of_field(owners[:1], leaves_owner=True, is_wiped=False)
    assert users(both) == [("kubectl-set", "")]
    assert users(alone) == [("pulumi-kubernetes-0a1b2c3d", "")]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([], [], id="no writes"),
        pytest.param(
            [event(2, CI, "holdfast"), event(5, ALICE, "kubectl-edit")], [ALICE], id="since"
        ),
        pytest.param([event(2, ALICE, "kubectl-edit"), event(5, CI, "holdfast")], [], id="before"),
        pytest.param(
            [event(5, ALICE, "kubectl-edit"), event(6, BOB, "kubectl-set")], [BOB, ALICE], id="two"
        ),
        pytest.param(
            [event(5, ALICE, "kubectl-edit"), event(6, "system:kube-controller-manager", "kcm")],
            [ALICE],
            id="controllers are no suspects",
        ),
        pytest.param([event(5, ALICE, "x", sub="status")], [], id="status"),
    ],
)
def test_a_removal_leaves_no_owner_so_recent_writers_are_named(
    events: list[AuditEvent], expected: list[str]
) -> None:
    evidence = Evidence(tuple(events))
    found = evidence.actors_of_field([entry("holdfast")], leaves_owner=False, is_wiped=False)
    assert [actor.user for actor in found] == expected


def test_a_removal_without_a_log_is_nobodys() -> None:
    assert Evidence().actors_of_field([entry("x")], leaves_owner=False, is_wiped=False) == ()


def test_what_nobody_owns_is_held_against_admission() -> None:
    (actor,) = Evidence().actors_of_field([], leaves_owner=True, is_wiped=False)
    assert actor.manager == "(admission)"
    assert Evidence().actors_of_field([], leaves_owner=True, is_wiped=True) == ()


@pytest.mark.parametrize("drift_class", [DriftClass.MISSING, DriftClass.TERMINATING])
def test_a_deletion_is_that_of_the_last_who_deleted(drift_class: DriftClass) -> None:
    events = (event(1, CI, "holdfast", "create"), event(5, ALICE, "kubectl", "delete"))
    assert users(Evidence(events).actors_of_object(drift_class, ())) == [("kubectl", ALICE)]


def test_an_unmanaged_object_is_its_first_owners() -> None:
    events = (event(5, BOB, "kubectl-create", "create"),)
    entries = [entry("kubectl-edit", 9), entry("kubectl-create", 5)]
    found = Evidence(events).actors_of_object(DriftClass.UNMANAGED, entries)
    assert users(found) == [("kubectl-create", BOB)]


def test_a_trail_finds_an_object_by_its_plural_and_deletions_around_it() -> None:
    whole = AuditEvent(
        at(9), "deletecollection", "apps", "deployments", "", "cx", "", BOB, "kubectl"
    )
    other = AuditEvent(at(9), "delete", "apps", "deployments", "", "cx", "other", BOB, "kubectl")
    trail = AuditTrail.of([whole, other, event(5, ALICE, "kubectl-set")])
    assert [each.user for each in trail.of_object(REF)] == [ALICE, BOB]


def test_a_custom_kind_is_found_by_its_likely_plural() -> None:
    made = AuditEvent(at(1), "create", "x.test", "policies", "", "cx", "p", ALICE, "kubectl-create")
    ref = ObjectRef("cx", "Policy", "p", "x.test/v1")
    assert len(AuditTrail.of([made]).of_object(ref)) == 1


@pytest.mark.parametrize(
    ("manager", "expected"),
    [
        pytest.param("holdfast", True, id="ours"),
        pytest.param("pulumi-kubernetes-0a1b2c3d", True, id="random suffix"),
        pytest.param("pulumi-kubernetes", True, id="plain"),
        pytest.param("pulumi-kubernetes-zz", False, id="no such suffix"),
        pytest.param("kubectl-holdfast", False, id="only like ours"),
    ],
)
def test_deployers_are_known_by_name(manager: str, expected: bool) -> None:
    assert is_deployer(manager) is expected


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
def test_nothing_else_is_reported(event: AuditEvent) -> None:
    assert list(session_findings([POD], AuditTrail.of([event]), {"cx"})) == []
    assert list(session_findings([POD], AuditTrail.of([entered("exec")]), {"dev"})) == []


@pytest.mark.parametrize(
    ("path", "count"),
    [("spec.ephemeralContainers[name=debug]", 1), ("spec.containers[name=agent].image", 2)],
)
def test_a_debug_container_that_is_drift_of_its_pod_is_not_reported_twice(
    path: str, count: int
) -> None:
    inside = list(session_findings([POD], AuditTrail.of([entered("ephemeralcontainers")]), {"cx"}))
    drift = replace(inside[0], path=parse_path(path), severity=Severity.MEDIUM)
    assert len(with_sessions(DriftReport(findings=(drift,)), inside).findings) == count
