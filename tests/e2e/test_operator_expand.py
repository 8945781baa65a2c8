"""The operator in mode expand: it makes agents' objects itself, and they go with their agent."""

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.controllers.operator.manifests import OperatorRequest, operator_objects
from holdfast.errors import ExitCode
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.render.fleet import FleetPlan, render_fleet

from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.operated_agents import condition, declaration_of, expanded_plan, manifests
from tests.e2e.operating import eventually, operating

pytestmark = pytest.mark.e2e

SCALED = f"""\
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: many, namespace: made}}
spec:
  version: 1.0.0
  image: registry.example/many@sha256:{"1" * 64}
  scaling: {{replicas: 2}}
"""
AUTOSCALER: dict[str, Any] = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "many", "namespace": "made"},
    "spec": {
        "scaleTargetRef": {"apiVersion": API_VERSION, "kind": "Agent", "name": "many"},
        "minReplicas": 3,
        "maxReplicas": 4,
    },
}


def account_of_operator(kubectl: Kubectl, plan: FleetPlan, folder: Path) -> Path:
    """Kubeconfig of the account that `operator install` makes, with its rights and no others."""
    environment = plan.agents[0].context.environment
    image = f"registry.example/holdfast@sha256:{'3' * 64}"
    request = OperatorRequest("made", image, "0.1.0", "ops", ("10.96.0.1/32",), environment)
    objects = operator_objects(request, plan, render_fleet(plan), {})
    kubectl.apply(*(one for one in objects if one["kind"] == "Namespace"))
    kubectl.apply(*objects)
    available = ("condition=Available", "deployment/operator-made", "-n", "holdfast-system")
    kubectl.wait_for(*available, seconds=170)
    token = kubectl("create", "token", "operator-made", "-n", "holdfast-system").strip()
    config = json.loads(kubectl("config", "view", "--raw", "-o", "json"))
    for user in config["users"]:
        user["user"] = {"token": token}
    file = folder / "operator.kubeconfig"
    file.write_text(json.dumps(config))
    return file


def programmed(kubectl: Kubectl, agent: str) -> str:
    """What the agent says of its objects."""
    conditions = kubectl.get(f"agent/{agent}", "-n", "made").get("status", {}).get("conditions", ())
    return "".join(each["message"] for each in conditions if each["type"] == "Programmed")


def test_expanded_agents_are_applied_and_take_their_objects_along(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    done = sandbox.run("up", "--with", "holdfast")
    assert done.returncode == 0, done.stderr
    plan = expanded_plan(tmp_path, sandbox, manifests("made") + SCALED)
    kubectl.apply(*(item.manifest for item in plan.namespace_objects()))
    resources = [item.manifest for item in plan.resource_objects()]
    taken = {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}}
    kubectl.apply({**taken, "metadata": {"name": "told", "namespace": "made"}})
    kubectl.apply(*resources)
    kubeconfig = account_of_operator(kubectl, plan, tmp_path)
    with operating(kubeconfig, "made") as operator:
        eventually(lambda: "not the agent's" in programmed(kubectl, "told"), "the name is taken")
        assert "Service" in programmed(kubectl, "told")
        ours = "deployments,configmaps,sa,netpol,pvc"
        of_told = ("-n", "made", "-l", "holdfast.dev/agent=told")
        eventually(lambda: not kubectl.get(ours, *of_told)["items"], "nothing of it stays")
        assert kubectl.get("service/told", "-n", "made")["spec"]["ports"][0]["port"] == 80
        kubectl("delete", "service/told", "-n", "made")
        kubectl("annotate", "agent/told", "-n", "made", "holdfast.dev/settled=yes")
        for name in ("held", "told"):
            kubectl.wait_for("condition=Ready", f"agent/{name}", "-n", "made", seconds=170)
        kubectl.apply(AUTOSCALER)
        deployment = kubectl.get("deployment/held", "-n", "made", "--show-managed-fields")
        appliers = {
            entry["manager"]
            for entry in deployment["metadata"]["managedFields"]
            if entry["operation"] == "Apply"
        }
        assert appliers == {"holdfast"}

        held = next(one for one in resources if one["kind"] == "Agent")
        others = [one for one in resources if one is not held]
        newer = json.loads(json.dumps(held))
        newer["spec"] |= {
            "version": "2.0.0",
            "storage": {"volumes": newer["spec"]["storage"]["volumes"][:1]},
        }
        kubectl.apply(*declaration_of([*others, newer], "made", "expand"), newer)
        label = "app.kubernetes.io/version=2.0.0"
        eventually(
            lambda: bool(kubectl.get("deployments", "-n", "made", "-l", label)["items"]),
            "the new version",
        )
        assert kubectl.get("pvc/held-scratch", "-n", "made")  # no claim goes by an edit

        broken = {**newer, "spec": {**newer["spec"], "model": {"ref": "nobody"}}}
        kubectl.apply(*declaration_of([*others, broken], "made", "expand"), broken)
        eventually(
            lambda: (
                condition(kubectl.get("agent/held", "-n", "made"), "ResolvedRefs")
                == ("False", "Unresolved")
            ),
            "the reference is told of",
        )
        assert kubectl.get("deployment/held", "-n", "made")

        _scaled_by_an_autoscaler_of_others(kubectl)
        left = [one for one in (*others, broken) if one["metadata"]["name"] != "told"]
        kubectl.apply(*declaration_of(left, "made", "expand"))
        kubectl("delete", "agent/told", "-n", "made", "--timeout=150s")
        left = kubectl.get("deployments,services,configmaps,pvc,sa,netpol", "-n", "made")["items"]
        told = [one["metadata"]["name"] for one in left if "told" in one["metadata"]["name"]]
        assert told == ["told-data"]
        assert operator.end() == ExitCode.CANCELLED


def _scaled_by_an_autoscaler_of_others(kubectl: Kubectl) -> None:
    """An agent's scale is read and written as a Deployment's is; its pods are found by selector."""
    eventually(
        lambda: kubectl.get("deployment/many", "-n", "made")["spec"]["replicas"] == 3,
        "the least that the autoscaler wants",
    )

    def asked_for_metrics() -> bool:
        status = kubectl.get("hpa/many", "-n", "made").get("status", {})
        found = {each["type"]: each["reason"] for each in status.get("conditions", ())}
        # There is nobody here who measures; without a selector it would not have come so far.
        return found.get("ScalingActive") == "FailedGetResourceMetric"

    eventually(asked_for_metrics, "the autoscaler finds the pods")
