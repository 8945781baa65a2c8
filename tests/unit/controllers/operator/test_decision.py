"""What is done about an agent, case by case."""

from dataclasses import replace
from typing import Any

import pytest
from holdfast.controllers.operator.agent_view import PAUSED, AgentView
from holdfast.controllers.operator.decision import Action, decide
from holdfast.controllers.operator.status import agent_status
from holdfast.drift.finding import DriftClass, Finding, Severity
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.render.objects.agent_resources import FINALIZER
from holdfast.render.plan.metadata import RenderedObject, revised, with_revision


def rendered(kind: str, name: str, **meta: Any) -> RenderedObject:
    metadata: KubeObject = {
        "name": name,
        "namespace": "cx",
        "labels": {"holdfast.dev/agent": "one"},
        "annotations": {},
    }
    manifest: KubeObject = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    return revised(RenderedObject("one", kind.lower(), manifest, **meta))


def live_of(*items: RenderedObject) -> dict[Identity, KubeObject]:
    return {reference_of(each.manifest).identity: each.manifest for each in items}


SERVICE, CONFIG = rendered("Service", "one"), rendered("ConfigMap", "one-config")
KEPT = rendered("PersistentVolumeClaim", "one-data", is_retained=True)
TEMPORARY = rendered("PersistentVolumeClaim", "one-tmp")
ITEMS = (CONFIG, KEPT, TEMPORARY, SERVICE)
RESOURCE: KubeObject = {
    "apiVersion": "holdfast.dev/v1alpha1",
    "kind": "Agent",
    "metadata": {"name": "one", "namespace": "cx", "generation": 1, "finalizers": [FINALIZER]},
}
NEW = AgentView(RESOURCE, mode="expand", rendered=ITEMS)
EDITED = Finding(reference_of(SERVICE.manifest), "one", DriftClass.CHANGED, ("spec", "type"))


def deployed(mode: str) -> AgentView:
    view = replace(NEW, mode=mode, live=live_of(*ITEMS))
    return replace(view, resource=RESOURCE | {"status": agent_status(view, "")})


def going(view: AgentView) -> AgentView:
    metadata = view.resource["metadata"] | {"deletionTimestamp": "2026-11-22T10:00:00Z"}
    return replace(view, resource=view.resource | {"metadata": metadata})


def paused(view: AgentView) -> AgentView:
    metadata = view.resource["metadata"] | {"annotations": {PAUSED: "true"}}
    return replace(view, resource=view.resource | {"metadata": metadata})


def test_an_agent_that_is_to_be_expanded_is_applied_in_order() -> None:
    decision = decide(NEW, "report")
    assert (decision.action, decision.apply) == (Action.APPLY, ITEMS)


@pytest.mark.parametrize(
    ("view", "drift_mode"),
    [
        pytest.param(deployed("expand"), "revert", id="in-sync"),
        pytest.param(replace(NEW, mode="observe"), "revert", id="pulumi-deploys"),
        pytest.param(paused(NEW), "revert", id="paused"),
        pytest.param(replace(NEW, blind=("Service: 403",)), "revert", id="blind"),
        pytest.param(replace(NEW, unresolved=("spec.model",)), "revert", id="unresolved"),
        pytest.param(replace(deployed("observe"), findings=(EDITED,)), "report", id="report"),
        pytest.param(replace(deployed("observe"), findings=(EDITED,)), "adopt", id="adopt"),
        pytest.param(
            replace(
                deployed("observe"),
                findings=(EDITED,),
                contested=frozenset({"Service one spec.type"}),
            ),
            "revert",
            id="conflict",
        ),
        pytest.param(
            replace(deployed("observe"), findings=(EDITED,), rendered=(*ITEMS, CONFIG)),
            "revert",
            id="update-under-way",
        ),
    ],
)
def test_nothing_is_written(view: AgentView, drift_mode: Any) -> None:
    assert decide(view, drift_mode).action is Action.NOTHING


@pytest.mark.parametrize("mode", ["observe", "expand"])
def test_drift_is_reverted_where_the_agent_says_so(mode: str) -> None:
    decision = decide(replace(deployed(mode), findings=(EDITED,)), "revert")
    assert (decision.action, decision.revert) == (Action.REVERT, (EDITED,))


CRITICAL = replace(EDITED, severity=Severity.CRITICAL)
OTHER_REVISION = with_revision({**SERVICE.manifest, "spec": {"type": "NodePort"}})


def attacked(**changes: Any) -> AgentView:
    """A deployed agent of which the deployer says that no update is under way."""
    view = replace(deployed("observe"), findings=(CRITICAL,), is_updating=False, stays=True)
    return replace(view, **changes)


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(
            attacked(
                live=live_of(CONFIG, KEPT, TEMPORARY)
                | {reference_of(SERVICE.manifest).identity: OTHER_REVISION}
            ),
            id="an object of another revision",
        ),
        pytest.param(
            attacked(resource=RESOURCE | {"status": {"revision": "forged"}}), id="status forged"
        ),
        pytest.param(attacked(resource=RESOURCE | {"status": {}}), id="status taken away"),
        pytest.param(paused(attacked()), id="paused"),
        pytest.param(
            attacked(contested=frozenset({"Service one spec.type"})), id="edited time and again"
        ),
    ],
)
def test_a_critical_finding_is_reverted_whatever_others_write_around_it(view: AgentView) -> None:
    decision = decide(view, "revert")
    assert (decision.action, decision.revert) == (Action.REVERT, (CRITICAL,))


def test_a_critical_finding_in_conflict_rests_between_two_reverts() -> None:
    names = frozenset({"Service one spec.type"})
    assert decide(attacked(contested=names, resting=names), "revert").action is Action.NOTHING


def test_a_pause_holds_what_is_not_critical() -> None:
    view = paused(attacked(findings=(EDITED, CRITICAL)))
    assert decide(view, "revert").revert == (CRITICAL,)
    assert decide(paused(attacked(findings=(EDITED,))), "revert").action is Action.NOTHING


def test_an_agent_that_others_delete_is_released_with_its_objects_in_place() -> None:
    decision = decide(going(replace(deployed("expand"), stays=True)), "report")
    assert (decision.action, decision.remove) == (Action.RELEASE, ())


def test_an_engine_that_does_not_deliver_the_stack_is_a_name_like_others() -> None:
    view = replace(delivered_by_flux(attacked()), engines=frozenset())
    assert decide(view, "revert").action is Action.REVERT


def delivered_by_flux(view: AgentView) -> AgentView:
    entry = {"manager": "kustomize-controller", "operation": "Apply", "fieldsV1": {"f:spec": {}}}
    live = {
        identity: one | {"metadata": one["metadata"] | {"managedFields": [entry]}}
        for identity, one in view.live.items()
    }
    return replace(view, live=live)


def test_what_an_engine_delivers_is_left_to_it_and_the_status_says_so() -> None:
    view = replace(delivered_by_flux(deployed("observe")), findings=(EDITED,))
    decision = decide(view, "revert")
    assert decision.action is Action.NOTHING
    assert decision.reason.startswith("Flux manages it (kustomize-controller)")
    conditions = {each["type"]: each for each in agent_status(view, "")["conditions"]}
    assert conditions["Drifted"]["message"].endswith("change what it deploys, or suspend it")


def test_of_a_gone_object_the_others_tell_who_delivers_it() -> None:
    view = delivered_by_flux(deployed("observe"))
    gone = replace(EDITED, drift_class=DriftClass.MISSING, path=())
    live = {identity: one for identity, one in view.live.items() if identity.kind != "Service"}
    view = replace(view, live=live, findings=(gone,))
    assert decide(view, "revert").action is Action.NOTHING


def test_what_an_update_takes_away_to_make_it_again_is_not_recreated() -> None:
    item = replace(SERVICE, replaced_on=("spec",))
    gone = replace(EDITED, drift_class=DriftClass.MISSING, path=())
    view = replace(deployed("observe"), rendered=(CONFIG, KEPT, TEMPORARY, item))
    view = replace(view, live=live_of(CONFIG, KEPT, TEMPORARY), findings=(gone,))
    assert decide(view, "revert").action is Action.NOTHING


def test_what_nobody_declared_is_reported_and_left() -> None:
    stranger = replace(EDITED, drift_class=DriftClass.UNMANAGED, path=())
    stranger = replace(stranger, ref=replace(stranger.ref, name="one-old"))
    view = replace(deployed("expand"), findings=(stranger,))
    assert decide(view, "revert").action is Action.NOTHING
    both = replace(view, findings=(stranger, EDITED))
    assert decide(both, "revert").revert == (EDITED,)


def test_what_breaks_a_mandatory_rule_is_not_applied() -> None:
    decision = decide(replace(NEW, broken=("image-digest-pinned",)), "report")
    assert decision.action is Action.NOTHING
    assert decision.refusal == "breaks mandatory rules: image-digest-pinned"


def test_an_object_of_somebody_else_is_not_taken_over() -> None:
    metadata = SERVICE.manifest["metadata"] | {"labels": {"holdfast.dev/agent": "another"}}
    foreign = SERVICE.manifest | {"metadata": metadata}
    decision = decide(replace(NEW, live={reference_of(foreign).identity: foreign}), "report")
    assert decision.action is Action.NOTHING
    assert "Service cx/one" in decision.refusal


def test_what_is_declared_no_more_goes_but_no_claim_does() -> None:
    view = replace(deployed("expand"), rendered=(CONFIG,))
    decision = decide(view, "report")
    assert [one["kind"] for one in decision.remove] == ["Service"]


def test_a_deleted_agent_takes_its_objects_along_but_what_is_retained() -> None:
    decision = decide(going(deployed("expand")), "report")
    assert decision.action is Action.DELETE
    names = {one["metadata"]["name"] for one in decision.remove}
    assert names == {"one-config", "one-tmp", "one"}
    left = replace(going(deployed("expand")), live=live_of(KEPT))
    assert decide(left, "report").action is Action.RELEASE


def test_a_deleted_agent_that_cannot_be_seen_whole_waits() -> None:
    view = replace(going(deployed("expand")), blind=("Service: 403",))
    assert decide(view, "report").action is Action.NOTHING
