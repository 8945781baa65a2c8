"""The operator on a real API server: status, drift put back, one writer, expansion, farewell."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from holdfast.errors import ExitCode
from holdfast.manifest.agent_resources import AgentResources
from holdfast.manifest.loader import load_fleet
from holdfast.operator.manifests import OperatorRequest, operator_objects
from holdfast.render.declared import plan_fleet
from holdfast.render.fleet import FleetPlan, render_fleet

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.operating import Operating, eventually, operating

pytestmark = pytest.mark.e2e

LEASE = ("--lease", "default/holdfast-operator")
AGENT = """\
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {name: %(name)s, namespace: %(namespace)s}
spec:
  version: 1.0.0
  image: registry.example/%(name)s@sha256:%(digest)s
  model: {ref: main}
  prompt: {systemMessage: Answer briefly.}
  drift: {mode: %(mode)s}
  storage:
    - {name: data, size: 1Gi, mountPath: /data, retain: true}
    - {name: scratch, size: 1Gi, mountPath: /scratch, retain: false, allowReplacement: true}
"""
SHARED = """\
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: main, namespace: %(namespace)s}
spec: {provider: Anthropic, name: claude-sonnet-4-6}
---
apiVersion: holdfast.dev/v1alpha1
kind: AgentTeam
metadata: {name: crew, namespace: %(namespace)s}
spec: {owner: ops, members: [held, told]}
"""


def manifests(namespace: str) -> str:
    text = SHARED % {"namespace": namespace}
    for name, mode in (("held", "revert"), ("told", "report")):
        marks = {"name": name, "namespace": namespace, "mode": mode, "digest": "1" * 64}
        text += AGENT % marks
    return text


def condition(resource: dict[str, Any], name: str) -> tuple[str, str]:
    found = {each["type"]: each for each in resource.get("status", {}).get("conditions", ())}
    each = found.get(name, {"status": "", "reason": ""})
    return each["status"], each["reason"]


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    """A stack `dev` in mode observe, deployed by the engine."""
    done = sandbox.run("up", "--with", "holdfast")
    assert done.returncode == 0, done.stderr
    root = tmp_path_factory.mktemp("observed")
    settings = {"agentResources": {"mode": "observe"}, "namespace": "seen"}
    project = FleetProject.write(root, sandbox, manifests("seen"), settings)
    stack = project.stack()
    stack.init_if_absent()
    stack.up()
    return project


@pytest.fixture(scope="module")
def operator(project: FleetProject) -> Iterator[Operating]:
    """The one that holds the lease."""
    with operating(project.sandbox.kubeconfig(), "dev", *LEASE) as operator:
        operator.wait_for(phase="lead")
        yield operator


def test_agents_say_how_they_are(operator: Operating, kubectl: Kubectl) -> None:
    for name in ("held", "told"):
        kubectl.wait_for("condition=Ready", f"agent/{name}", "-n", "seen", seconds=170)
    held = kubectl.get("agent/held", "-n", "seen")
    status = held["status"]
    assert status["phase"] == "Ready"
    assert status["model"] == "claude-sonnet-4-6"
    assert (status["replicas"], status["readyReplicas"]) == (1, 1)
    for name in ("Accepted", "ResolvedRefs", "PolicyCompliant", "Programmed", "RolloutComplete"):
        assert condition(held, name)[0] == "True", name
    assert condition(held, "Drifted") == ("False", "InSync")
    [_, row, _] = kubectl("get", "agents", "-n", "seen").splitlines()
    assert row.split()[:6] == ["held", "True", "False", "True", "claude-sonnet-4-6", "1.0.0"]
    kubectl.wait_for("condition=Ready", "agentteam/crew", "-n", "seen", seconds=170)
    assert kubectl.get("agentteam/crew", "-n", "seen")["status"]["readyMembers"] == 2
    assert operator.ask("/healthz") == operator.ask("/readyz") == (200, "ok")
    assert operator.metric("holdfast_operator_leader") == 1


def test_an_edit_is_told_of_and_put_back_only_where_the_agent_says_so(
    operator: Operating, kubectl: Kubectl, project: FleetProject
) -> None:
    for name in ("held", "told"):
        kubectl("set", "image", "-n", "seen", f"deployment/{name}", "agent=evil:1")

    def image(name: str) -> str:
        spec = kubectl.get(f"deployment/{name}", "-n", "seen")["spec"]["template"]["spec"]
        return str(spec["containers"][0]["image"])

    def drifted(name: str) -> str:
        return condition(kubectl.get(f"agent/{name}", "-n", "seen"), "Drifted")[0]

    eventually(lambda: image("held") != "evil:1", "the edit put back")
    eventually(lambda: drifted("told") == "True", "the edit told of")
    assert image("told") == "evil:1"
    act = operator.wait_for(phase="act", agent="held", reverted="Deployment seen/held")
    phases = [line["phase"] for line in operator.logged(id=act["id"])]
    assert phases[:3] == ["observe", "diff", "act"]
    events = kubectl.get("events", "-n", "seen")["items"]
    reasons = {(one["involvedObject"]["name"], one["reason"]) for one in events}
    assert {("held", "Reverted"), ("told", "Drift")} <= reasons
    changed = {"class": "changed"}
    eventually(lambda: operator.metric("holdfast_drift_findings", **changed) >= 1, "it is counted")
    kubectl("delete", "service/held", "-n", "seen")
    eventually(
        lambda: kubectl.run("get", "service/held", "-n", "seen").returncode == 0, "made again"
    )
    assert project.holdfast("drift", "-s", "dev", "--revert", "--yes").returncode == 0
    eventually(lambda: drifted("told") == "False", "a person takes the drift away")


def test_who_fights_is_left_alone_until_somebody_says_so(
    operator: Operating, kubectl: Kubectl
) -> None:
    def replicas() -> int:
        return int(kubectl.get("deployment/held", "-n", "seen")["spec"]["replicas"])

    for _ in range(5):
        kubectl("scale", "deployment/held", "-n", "seen", "--replicas=2")
        eventually(lambda: replicas() == 1, "put back")
    eventually(lambda: operator.metric("holdfast_fights_open") == 1, "the breaker opens")
    kubectl("scale", "deployment/held", "-n", "seen", "--replicas=2")

    def drifted() -> tuple[str, str]:
        return condition(kubectl.get("agent/held", "-n", "seen"), "Drifted")

    eventually(lambda: drifted() == ("True", "Fight"), "the fight is told of")
    assert replicas() == 2
    assert operator.metric("holdfast_fights_total") == 1
    kubectl("annotate", "agent/held", "-n", "seen", "holdfast.dev/settled=yes")
    eventually(lambda: replicas() == 1, "put back again")
    eventually(lambda: operator.metric("holdfast_fights_open") == 0, "the breaker closes")


def test_only_the_holder_of_the_lease_writes_and_another_takes_over(
    operator: Operating, kubectl: Kubectl, project: FleetProject
) -> None:
    with operating(project.sandbox.kubeconfig(), "dev", *LEASE) as second:
        second.wait_for(phase="wait", reason="another one holds the lease")
        kubectl("scale", "deployment/held", "-n", "seen", "--replicas=3")
        eventually(
            lambda: kubectl.get("deployment/held", "-n", "seen")["spec"]["replicas"] == 1,
            "put back",
        )
        assert second.metric("holdfast_operator_writes_total") == 0
        assert second.metric("holdfast_operator_leader") == 0
        assert operator.end() == ExitCode.CANCELLED
        second.wait_for(phase="lead")
        kubectl("scale", "deployment/held", "-n", "seen", "--replicas=3")
        second.wait_for(phase="act", reverted="Deployment seen/held")


def account_of_operator(kubectl: Kubectl, plan: FleetPlan, folder: Path) -> Path:
    """Kubeconfig of the account that `operator install` makes, with its rights and no others."""
    environment = plan.agents[0].surroundings.environment
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


def test_expanded_agents_are_applied_and_take_their_objects_along(
    project: FleetProject, kubectl: Kubectl, tmp_path: Path
) -> None:
    settings_of_stack = {"namespace": "made", "policy": {"profile": "dev"}}
    other = FleetProject.write(tmp_path, project.sandbox, manifests("made"), settings_of_stack)
    fleet = load_fleet(other.root, "dev")
    settings = AgentResources(mode="expand")
    environment = fleet.environment.model_copy(update={"agent_resources": settings})
    plan = plan_fleet(replace(fleet, environment=environment), "made")
    kubectl.apply(*(item.manifest for item in plan.namespace_objects()))
    resources = [item.manifest for item in plan.resource_objects()]
    kubectl.apply(*resources)
    kubeconfig = account_of_operator(kubectl, plan, tmp_path)
    with operating(kubeconfig, "made") as operator:
        for name in ("held", "told"):
            kubectl.wait_for("condition=Ready", f"agent/{name}", "-n", "made", seconds=170)
        deployment = kubectl.get("deployment/held", "-n", "made", "--show-managed-fields")
        appliers = {
            entry["manager"]
            for entry in deployment["metadata"]["managedFields"]
            if entry["operation"] == "Apply"
        }
        assert appliers == {"holdfast"}

        newer = json.loads(json.dumps(next(one for one in resources if one["kind"] == "Agent")))
        newer["spec"] |= {"version": "2.0.0", "storage": newer["spec"]["storage"][:1]}
        kubectl.apply(newer)
        label = "app.kubernetes.io/version=2.0.0"
        eventually(
            lambda: bool(kubectl.get("deployments", "-n", "made", "-l", label)["items"]),
            "the new version",
        )
        assert kubectl.get("pvc/held-scratch", "-n", "made")  # no claim goes by an edit

        broken = {**newer, "spec": {**newer["spec"], "model": {"ref": "nobody"}}}
        kubectl.apply(broken)
        eventually(
            lambda: (
                condition(kubectl.get("agent/held", "-n", "made"), "ResolvedRefs")
                == ("False", "Unresolved")
            ),
            "the reference is told of",
        )
        assert kubectl.get("deployment/held", "-n", "made")

        kubectl("delete", "agent/told", "-n", "made", "--timeout=150s")
        left = kubectl.get("deployments,services,configmaps,pvc,sa,netpol", "-n", "made")["items"]
        told = [one["metadata"]["name"] for one in left if "told" in one["metadata"]["name"]]
        assert told == ["told-data"]
        assert operator.end() == ExitCode.CANCELLED
