"""What explains several findings at once, and what can be said of each agent."""

from dataclasses import replace

from holdfast.drift.cause.causes import causes_of
from holdfast.drift.finding import (
    Actor,
    AgentState,
    DriftClass,
    DriftReport,
    Finding,
    NextUpdate,
    Severity,
)
from holdfast.drift.scan import agents_of, by_team
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import parse_path

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit, identity

IMAGE = f"{CONTAINER}.image"
ALICE, BOB = Actor("kubectl-set", user="alice"), Actor("kubectl-edit", user="bob")


def changed(name: str, actor: Actor, container: str = "agent") -> Finding:
    ref = ObjectRef("cx", "Deployment", name, "apps/v1")
    path = parse_path(IMAGE.replace("agent", container))
    return Finding(ref, name, DriftClass.CHANGED, path, actors=(actor,))


def test_one_change_by_one_author_is_one_cause() -> None:
    found = (changed("a", ALICE), changed("b", ALICE, "other"), changed("c", BOB))
    (cause,) = causes_of(DriftReport(found))
    assert cause.findings == found[:2]
    assert "in 2 objects of kind Deployment by alice through kubectl-set" in cause.summary


def test_several_fields_of_one_object_are_no_cause() -> None:
    one = changed("a", ALICE)
    assert causes_of(DriftReport((one, replace(one, path=())))) == ()


def test_what_nobody_is_known_for_has_no_hand() -> None:
    found = tuple(replace(changed(name, ALICE), actors=()) for name in "ab")
    assert causes_of(DriftReport(found)) == ()


def test_what_is_declared_no_more_waits_for_the_update() -> None:
    ref, update = reference_of(DEPLOYMENT), NextUpdate.DELETES
    finding = Finding(ref, "", DriftClass.UNMANAGED, next_update=update)
    (cause,) = causes_of(DriftReport((finding,)))
    assert "pulumi up" in cause.remedy


def test_a_declaration_that_moved_was_not_deployed() -> None:
    waiting = replace(changed("support", ALICE), actors=(), next_update=NextUpdate.DEPLOYS)
    (cause,) = causes_of(DriftReport((waiting,)))
    assert "pulumi up" in cause.remedy


def named(name: str, team: str) -> KubeObject:
    labels = {"holdfast.dev/agent": name, "holdfast.dev/owner": team}
    return edit(DEPLOYMENT, {"metadata.name": name, "metadata.labels": labels})


def test_each_agent_has_a_state_and_each_team_its_counts() -> None:
    fleet = [named("a", "x"), named("b", "x"), named("c", "y"), named("d", "y")]
    remark = replace(changed("d", ALICE), severity=Severity.INFO)
    report = DriftReport((changed("b", ALICE), remark))
    states = agents_of(fleet, report, {identity(fleet[0])})
    assert {each.name: each.state for each in states} == {
        "a": AgentState.UNKNOWN,
        "b": AgentState.OUT_OF_SYNC,
        "c": AgentState.SYNCED,
        "d": AgentState.SYNCED,
    }
    assert by_team(states)["y"] == {AgentState.SYNCED: 2}


def test_a_blind_scan_calls_nobody_in_sync() -> None:
    (status,) = agents_of([named("a", "x")], DriftReport(()), (), is_blind=True)
    assert status.state is AgentState.UNKNOWN
