"""An agent of type Sandbox is a Sandbox of agent-sandbox, or a template with a warm pool."""

from dataclasses import replace
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.render.plan.metadata import RenderedObject

from tests.unit.render import connected_agent
from tests.unit.render.connected_agent import ENVIRONMENT, SURROUNDINGS, only, render

STORAGE = [{"name": "project", "size": "10Gi", "mountPath": "/project"}]


@pytest.fixture(autouse=True)
def cluster_with_agent_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = ENVIRONMENT.model_copy(update={"controllers": ("agent-sandbox",)})
    monkeypatch.setattr(
        connected_agent, "SURROUNDINGS", replace(SURROUNDINGS, environment=environment)
    )


def sandbox(**settings: Any) -> tuple[RenderedObject, ...]:
    return render({"type": "Sandbox", "sandbox": settings, "storage": {"volumes": STORAGE}})


def pod(rendered: tuple[RenderedObject, ...], kind: str) -> KubeObject:
    found: KubeObject = only(rendered, kind)["spec"]["podTemplate"]["spec"]
    return found


def test_one_sandbox_keeps_its_storage_in_a_claim_of_the_agents_own() -> None:
    rendered = sandbox()
    assert [item.role for item in rendered] == [
        "serviceaccount",
        "config",
        "claim-project",
        "service",
        "networkpolicy",
        "sandbox",
    ]
    one = only(rendered, "Sandbox")
    assert one["apiVersion"] == "agents.x-k8s.io/v1beta1"
    assert one["spec"]["operatingMode"] == "Running"
    assert one["spec"]["service"] is False
    assert pod(rendered, "Sandbox")["volumes"][-2] == {
        "name": "storage-project",
        "persistentVolumeClaim": {"claimName": "support-project"},
    }


def test_a_changed_sandbox_is_recreated_for_its_controller_leaves_running_pods_alone() -> None:
    [item] = [item for item in sandbox() if item.role == "sandbox"]
    assert item.replaced_on == ("spec.podTemplate",)
    assert not item.is_protected


def test_a_pool_gives_every_sandbox_a_claim_of_its_own() -> None:
    rendered = sandbox(warmPool={"replicas": 3})
    assert [item.role for item in rendered] == [
        "serviceaccount",
        "config",
        "networkpolicy",
        "sandboxtemplate",
        "warmpool",
    ]
    template = only(rendered, "SandboxTemplate")
    assert template["apiVersion"] == "extensions.agents.x-k8s.io/v1beta1"
    assert template["spec"]["volumeClaimTemplates"] == [
        {
            "metadata": {"name": "storage-project"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "10Gi"}},
            },
        }
    ]
    agent = pod(rendered, "SandboxTemplate")
    assert "storage-project" in [mount["name"] for mount in agent["containers"][0]["volumeMounts"]]
    assert "storage-project" not in [volume["name"] for volume in agent["volumes"]]
    assert template["spec"]["networkPolicyManagement"] == "Managed"
    own = only(rendered, "NetworkPolicy")["spec"]
    assert template["spec"]["networkPolicy"] == {
        name: own[name] for name in ("ingress", "egress") if name in own
    }
    assert template["spec"]["envVarsInjectionPolicy"] == "Disallowed"
    pool = only(rendered, "SandboxWarmPool")["spec"]
    assert pool == {
        "replicas": 3,
        "sandboxTemplateRef": {"name": "support"},
        "updateStrategy": {"type": "Recreate"},
    }


def test_a_claim_takes_one_sandbox_of_the_pool() -> None:
    rendered = sandbox(
        warmPool={"replicas": 1}, claim=True, ttlSecondsAfterFinished=60, envInjection="Allowed"
    )
    assert only(rendered, "SandboxClaim")["spec"] == {
        "warmPoolRef": {"name": "support"},
        "lifecycle": {"shutdownPolicy": "Delete", "ttlSecondsAfterFinished": 60},
    }
    assert only(rendered, "SandboxTemplate")["spec"]["envVarsInjectionPolicy"] == "Allowed"


def test_the_longest_life_is_the_pods_deadline() -> None:
    assert pod(sandbox(shutdownAfter="2h"), "Sandbox")["activeDeadlineSeconds"] == 7200
    assert "activeDeadlineSeconds" not in pod(sandbox(), "Sandbox")


def test_the_runtime_class_isolates_the_pod() -> None:
    settings = {
        "type": "Sandbox",
        "sandbox": {"warmPool": {"replicas": 1}},
        "storage": {"volumes": STORAGE},
    }
    rendered = render({**settings, "pod": {"runtimeClassName": "gvisor"}})
    assert pod(rendered, "SandboxTemplate")["runtimeClassName"] == "gvisor"


def test_a_suspended_sandbox_says_so() -> None:
    assert only(sandbox(operatingMode="Suspended"), "Sandbox")["spec"]["operatingMode"] == (
        "Suspended"
    )


def test_a_cluster_without_agent_sandbox_is_reported_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connected_agent, "SURROUNDINGS", SURROUNDINGS)
    with pytest.raises(RenderError, match=r"spec\.type needs agent-sandbox"):
        sandbox()


def test_warm_sandboxes_are_replaced_when_only_their_configuration_changes() -> None:
    # agent-sandbox compares the specs of pods, not their annotations.
    pool = {"type": "Sandbox", "sandbox": {"warmPool": {"replicas": 2}}}
    specs = [
        pod(render(pool | {"budget": {"maxSteps": steps}}), "SandboxTemplate") for steps in (7, 9)
    ]
    assert specs[0] != specs[1]
