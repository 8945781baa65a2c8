"""The status of an agent, case by case: what is known of it decides, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest
from holdfast.controllers.operator.agent_view import AgentView
from holdfast.controllers.operator.status import agent_status
from holdfast.drift.finding import Actor, DriftClass, Finding
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.render.plan.metadata import RenderedObject, revised

NOW, LATER = "2026-11-22T10:00:00Z", "2026-11-22T11:00:00Z"


def rendered(kind: str = "Deployment", api_version: str = "apps/v1") -> RenderedObject:
    manifest: KubeObject = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "one", "namespace": "cx", "annotations": {}},
        "spec": {"selector": {"matchLabels": {"app": "one"}}},
    }
    return revised(RenderedObject("one", "workload", manifest))


def live(item: RenderedObject, **status: Any) -> KubeObject:
    counts = {"replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "observedGeneration": 1}
    metadata = {**item.manifest["metadata"], "generation": 1}
    spec = {**item.manifest["spec"], "replicas": 1}
    return item.manifest | {"metadata": metadata, "spec": spec, "status": counts | status}


ITEM = rendered()
IDENTITY = reference_of(ITEM.manifest).identity
RESOURCE: KubeObject = {
    "apiVersion": "holdfast.dev/v1alpha1",
    "kind": "Agent",
    "metadata": {"name": "one", "namespace": "cx", "generation": 3, "uid": "u"},
    "spec": {},
}
WELL = AgentView(RESOURCE, rendered=(ITEM,), live={IDENTITY: live(ITEM)}, commit="abc", model="m")
EDITED = Finding(
    reference_of(ITEM.manifest),
    "one",
    DriftClass.CHANGED,
    ("spec", "replicas"),
    desired=1,
    live="a value that nobody shows here",
    actors=(Actor("kubectl-edit", user="alice@example.test"),),
)


def settled(view: AgentView) -> AgentView:
    """The same agent after its status was written once."""
    return replace(view, resource=view.resource | {"status": agent_status(view, NOW)})


def told(view: AgentView, now: str = NOW) -> dict[str, tuple[str, str, str]]:
    status = agent_status(view, now)
    return {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in status["conditions"]
    }


def test_an_agent_that_is_well_says_so() -> None:
    status = agent_status(WELL, NOW)
    assert status["phase"] == "Ready"
    assert (status["replicas"], status["readyReplicas"]) == (1, 1)
    assert status["observedGeneration"] == 3
    assert status["selector"] == "app=one"
    assert (status["revision"], status["commit"]) == (WELL.revision, "abc")
    assert status["drift"] == {"findings": 0}
    truths = {each["type"]: each["status"] for each in status["conditions"]}
    assert (truths.pop("Drifted"), truths.pop("Stalled")) == ("False", "False")
    assert set(truths.values()) == {"True"}
    assert {each["observedGeneration"] for each in status["conditions"]} == {3}


@pytest.mark.parametrize(
    ("view", "condition", "expected", "phase"),
    [
        pytest.param(
            AgentView(RESOURCE, invalid=("spec.version: expected a version",)),
            "Accepted",
            ("False", "Invalid", "spec.version: expected a version"),
            "Invalid",
            id="invalid",
        ),
        pytest.param(
            AgentView(RESOURCE, unresolved=("spec.model.ref: expected a model",)),
            "ResolvedRefs",
            ("False", "Unresolved", "spec.model.ref: expected a model"),
            "Invalid",
            id="unresolved",
        ),
        pytest.param(
            replace(WELL, live={}),
            "Programmed",
            ("False", "NotDeployed", "not there yet: Deployment one"),
            "Pending",
            id="not-deployed",
        ),
        pytest.param(
            replace(WELL, error="forbidden: grant patch"),
            "Programmed",
            ("False", "NotWritten", "forbidden: grant patch"),
            "Pending",
            id="write-failed",
        ),
        pytest.param(
            replace(WELL, broken=("image-digest-pinned",)),
            "PolicyCompliant",
            ("False", "DeclarationBreaksRules", "image-digest-pinned"),
            "Ready",
            id="breaks-rules",
        ),
        pytest.param(
            replace(WELL, findings=(EDITED,)),
            "Drifted",
            (
                "True",
                "Drift",
                "Deployment one: changed spec.replicas by alice@example.test",
            ),
            "Ready",
            id="drifted",
        ),
        pytest.param(
            replace(WELL, findings=(replace(EDITED, policies=("runs-as-user",)),)),
            "PolicyCompliant",
            ("False", "DriftBreaksRules", "runs-as-user"),
            "Ready",
            id="drift-breaks-rules",
        ),
        pytest.param(
            replace(WELL, blind=("Deployment: forbidden",)),
            "Ready",
            ("Unknown", "CannotSee", "Deployment: forbidden"),
            "Unknown",
            id="blind",
        ),
        pytest.param(
            replace(
                WELL, contested=frozenset({"Deployment one spec.replicas"}), findings=(EDITED,)
            ),
            "Drifted",
            (
                "True",
                "Conflict",
                "reverted again and again, and only reported now: Deployment one spec.replicas",
            ),
            "Ready",
            id="conflict",
        ),
        pytest.param(
            replace(WELL, live={IDENTITY: live(ITEM, readyReplicas=0, updatedReplicas=0)}),
            "Ready",
            ("False", "PodsNotReady", "0 of 1 pods are ready"),
            "Progressing",
            id="rolling-out",
        ),
        pytest.param(
            replace(WELL, live={IDENTITY: live(ITEM, readyReplicas=0)}),
            "Ready",
            ("False", "PodsNotReady", "0 of 1 pods are ready"),
            "Degraded",
            id="degraded",
        ),
    ],
)
def test_what_is_wrong_has_a_condition_with_a_reason(
    view: AgentView, condition: str, expected: tuple[str, str, str], phase: str
) -> None:
    assert told(view)[condition] == expected
    assert agent_status(view, NOW)["phase"] == phase


def test_a_stuck_pod_is_the_reason_that_is_reported() -> None:
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}
    container = {"name": "agent", "restartCount": 7, "state": {"waiting": waiting}}
    pod = {"metadata": {"name": "one-x"}, "status": {"containerStatuses": [container]}}
    view = replace(WELL, live={IDENTITY: live(ITEM, readyReplicas=0)}, pods=(pod,))
    message = "pod one-x: container agent: back-off 5m0s; 7 restarts"
    assert told(view)["Ready"] == ("False", "CrashLoopBackOff", message)


def test_times_change_with_the_truth_and_not_with_the_words() -> None:
    first = settled(WELL)
    assert agent_status(first, LATER) == first.status
    drifted = agent_status(replace(first, findings=(EDITED,)), LATER)
    times = {each["type"]: each["lastTransitionTime"] for each in drifted["conditions"]}
    assert times["Drifted"] == LATER
    assert set(times.values()) == {NOW, LATER}


def test_a_status_holds_no_value_of_a_finding() -> None:
    assert "nobody shows" not in str(agent_status(replace(WELL, findings=(EDITED,)), NOW))


def test_a_new_revision_is_not_reported_before_every_object_has_it() -> None:
    first = settled(WELL)
    newer = rendered()
    newer = revised(replace(newer, manifest=newer.manifest | {"spec": {"replicas": 2}}))
    updating = replace(first, rendered=(newer,), commit="def")
    status = agent_status(updating, LATER)
    assert (status["revision"], status["commit"]) == (WELL.revision, "abc")
    assert told(updating)["Programmed"][:2] == ("False", "Outdated")
    done = agent_status(replace(updating, live={IDENTITY: live(newer)}), LATER)
    assert (done["revision"], done["commit"]) == (updating.revision, "def")


def test_a_revision_without_a_commit_gets_the_first_that_is_known() -> None:
    unknown = settled(replace(WELL, commit=""))
    assert "commit" not in unknown.status
    assert agent_status(replace(unknown, commit="abc"), LATER)["commit"] == "abc"
    assert agent_status(replace(settled(WELL), commit="def"), LATER)["commit"] == "abc"


def test_what_was_deployed_and_is_gone_is_drift_and_not_an_update() -> None:
    gone = replace(settled(WELL), live={})
    assert told(gone)["Programmed"][0] == "True"


def test_who_applies_is_part_of_the_revision() -> None:
    assert replace(WELL, mode="expand").revision != WELL.revision
