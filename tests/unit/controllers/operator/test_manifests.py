"""The operator as objects: it passes the pack at prod, and may do no more than it must."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from holdfast.controllers.operator.manifests import OperatorRequest, operator_objects
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject
from holdfast.kube.structure import KindEntry
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.agent_resources import AgentResources
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet
from holdfast_policies.evaluation.judge import judge_stack, violations
from holdfast_policies.evaluation.profile import profile_of

CLONE = Path(__file__).resolve().parents[4]
IMAGE = f"registry.example/holdfast@sha256:{'1' * 64}"
ACCOUNT = "holdfast-system/operator-prod"
SETTINGS: dict[str, Any] = {"no-token-automount": {"accounts": [ACCOUNT, "ops/k8s-helper"]}}
ABOUT_ADMISSION = {"image-signature-verification-in-place", "stack-admission-parity"}
"""Rules on what the cluster's own admission verifies: no object of the operator's can say it."""

KINDS = {
    ("argoproj.io/v1alpha1", "Rollout"): KindEntry("rollouts", is_namespaced=True, type_name=""),
}


def objects_in(mode: str, image: str = IMAGE) -> list[KubeObject]:
    fleet = load_fleet(CLONE, "prod")
    settings = AgentResources.model_validate({"mode": mode})
    environment = fleet.environment.model_copy(update={"agent_resources": settings})
    plan = plan_fleet(replace(fleet, environment=environment), "prod")
    request = OperatorRequest("prod", image, "0.1.0", "sre", ("10.96.0.1/32",), environment)
    return operator_objects(request, plan, render_fleet(plan), KINDS)


def rules_of(objects: list[KubeObject]) -> list[dict[str, Any]]:
    roles = [one for one in objects if one["kind"] in {"Role", "ClusterRole"}]
    return [rule for role in roles for rule in role["rules"]]


@pytest.mark.parametrize(
    ("mode", "waived"),
    [
        pytest.param("observe", set(), id="observe"),
        # Who applies agents writes their network policies and roles, and runs their pods: that is
        # to be waived by name.
        pytest.param(
            "expand", {"rbac-no-policy-tampering", "rbac-no-dangerous-verbs"}, id="expand"
        ),
    ],
)
def test_it_passes_the_pack_at_prod(mode: str, waived: set[str]) -> None:
    profile = profile_of("prod", SETTINGS)
    objects = [one for one in objects_in(mode) if one["kind"] != "CustomResourceDefinition"]
    broken = {each.rule for one in objects for each in violations(one, profile)}
    assert broken == waived
    beside = {"stack-effective-rbac"} if waived else set()
    assert {each.rule for each in judge_stack(objects, profile)} == ABOUT_ADMISSION | beside


@pytest.mark.parametrize("mode", ["observe", "expand"])
def test_no_rule_has_a_wildcard_grants_secrets_or_escalates(mode: str) -> None:
    for rule in rules_of(objects_in(mode)):
        assert "*" not in (*rule["apiGroups"], *rule["resources"], *rule["verbs"])
        assert "secrets" not in rule["resources"]
        assert not {"escalate", "bind", "impersonate"} & set(rule["verbs"])


def test_who_only_reports_writes_no_object() -> None:
    written = {
        resource
        for rule in rules_of(objects_in("observe"))
        if set(rule["verbs"]) - {"get", "list", "watch"}
        for resource in rule["resources"]
    }
    assert written == {"agents/status", "agentteams/status", "events", "leases"}


def test_writing_is_granted_in_the_namespaces_of_the_stack_alone() -> None:
    objects = objects_in("expand")
    [cluster_role] = [one for one in objects if one["kind"] == "ClusterRole"]
    assert {verb for rule in cluster_role["rules"] for verb in rule["verbs"]} == {
        "get",
        "list",
        "watch",
    }
    roles = [one for one in objects if one["kind"] == "Role"]
    assert {one["metadata"]["namespace"] for one in roles} == {
        "holdfast-system",
        "clinic",
        "cx",
        "dev",
        "finops",
        "ops",
        "tools",
    }


def test_an_image_without_a_digest_is_refused() -> None:
    with pytest.raises(InputError, match=r"--image .*latest: .*image-digest-pinned"):
        objects_in("observe", "registry.example/holdfast:latest")
