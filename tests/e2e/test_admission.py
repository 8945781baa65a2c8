"""The stack holds its cluster to its rules: kubectl is refused what preview refuses."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from holdfast.kube.objects import KubeObject
from holdfast_policies.admission.gatekeeper import gatekeeper_constraints
from holdfast_policies.admission.kyverno import kyverno_policies
from holdfast_policies.admission.parameters import Scope
from holdfast_policies.admission.resources import resource_rules
from holdfast_policies.admission.validating import API_VERSION
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.model.kinds import POD_KINDS

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

NAMESPACE = "held"
DIGEST = f"@sha256:{'0' * 64}"
OURS, THEIRS = f"registry.example/agent{DIGEST}", f"elsewhere.example/tool{DIGEST}"
WAIT_SECONDS = 60
EVALUATED = ("failurePolicy", "matchConstraints", "matchConditions", "variables", "validations")
RULES = {
    "all": "disabled",
    "image-registry-allowlist": {
        "enforcementLevel": "mandatory",
        "registries": ["registry.example"],
    },
    "pss-host-namespaces": "mandatory",
    "graceful-drain": "advisory",
    "stack-admission-parity": "mandatory",
}
SETTINGS = {
    "namespaces": "existing",
    "policy": {"profile": "prod", "rules": RULES, "admission": {}},
}
AGENT = {
    "apiVersion": "holdfast.dev/v1alpha1",
    "kind": "Agent",
    "metadata": {"name": "guard", "namespace": NAMESPACE},
    "spec": {"version": "1.0.0", "owner": "sre", "image": OURS},
}
CONTAINED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def waiver(expires: str) -> dict[str, Any]:
    spec = {
        "rules": ["image-registry-allowlist"],
        "target": {"kind": "Deployment", "namespace": NAMESPACE, "name": "legacy"},
        "reason": "its image moves next month",
        "owner": "sre",
        "ticket": "OPS-7",
        "approver": "security",
        "expires": expires,
    }
    metadata = {"name": "legacy-image", "namespace": NAMESPACE}
    kind = "PolicyException"
    return {"apiVersion": AGENT["apiVersion"], "kind": kind, "metadata": metadata, "spec": spec}


def pod_spec(image: str = OURS, **more: Any) -> dict[str, Any]:
    container = {"name": "main", "image": image, "securityContext": CONTAINED}
    return {"containers": [container], **more}


def deployment(name: str, image: str = OURS, **more: Any) -> KubeObject:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod_spec(image, **more)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def pod(name: str, image: str = OURS, **metadata: Any) -> KubeObject:
    placed = {"name": name, "namespace": NAMESPACE, **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": placed, "spec": pod_spec(image)}


@pytest.fixture(scope="module")
def held(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    """A stack with policies in force, in a namespace where something broke the rules before."""
    kubectl = Kubectl(sandbox)
    kubectl("create", "namespace", NAMESPACE)
    kubectl.apply(deployment("old", THEIRS))
    root = tmp_path_factory.mktemp("project")
    project = FleetProject.write(root, sandbox, json.dumps(AGENT), SETTINGS)
    project.stack().init_if_absent()
    # The cluster does not know the kind of the parameters yet.
    project.stack().preview(policy_pack=root / "policy-pack")
    project.stack().up(policy_pack=root / "policy-pack")
    wait_until(lambda: bool(refusal(kubectl, deployment("probe", THEIRS))))
    return project


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.5)


def refusal(kubectl: Kubectl, kube_object: KubeObject, *options: str) -> str:
    """What the API server says against an object; empty when it takes it."""
    arguments = ("create", *(options or ("--dry-run=server",)), "--validate=false", "-f", "-")
    done = kubectl.run(*arguments, stdin=json.dumps(kube_object))
    return done.stderr if done.returncode else ""


@pytest.mark.usefixtures("held")
def test_kubectl_gets_every_rule_that_is_broken_and_where(kubectl: Kubectl) -> None:
    told = refusal(kubectl, deployment("new", THEIRS, hostNetwork=True))
    assert "pss-host-namespaces: spec.template.spec.hostNetwork: expected false" in told
    place = "spec.template.spec.containers[name=main].image"
    assert f"image-registry-allowlist: {place}: expected an image from an allowed registry" in told
    assert not refusal(kubectl, deployment("new"))


@pytest.mark.usefixtures("held")
def test_an_advisory_rule_only_warns(kubectl: Kubectl) -> None:
    text = json.dumps(deployment("new"))
    done = kubectl.run("create", "--dry-run=server", "--validate=false", "-f", "-", stdin=text)
    assert done.returncode == 0
    assert "graceful-drain: spec.template.spec.terminationGracePeriodSeconds" in done.stderr


def test_other_namespaces_are_left_alone(held: FleetProject, kubectl: Kubectl) -> None:
    elsewhere = deployment("new", THEIRS)
    elsewhere["metadata"]["namespace"] = "default"
    assert not refusal(kubectl, elsewhere)
    assert held.stack().up().counts.keys() == {"same"}


@pytest.mark.usefixtures("held")
def test_what_was_there_before_still_gets_its_finalizers_and_its_scale(kubectl: Kubectl) -> None:
    of_old = ("deployment", "old", "-n", NAMESPACE)
    kubectl("scale", *of_old, "--replicas=2")
    patch = json.dumps({"metadata": {"finalizers": ["example/kept"]}})
    kubectl("patch", *of_old, "--type=merge", "-p", patch)
    kubectl("patch", *of_old, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    kubectl.wait_for("jsonpath={.status.replicas}=2", *of_old, seconds=WAIT_SECONDS)
    done = kubectl.run("set", "env", *of_old, "A=b")
    assert "image-registry-allowlist" in done.stderr


@pytest.mark.usefixtures("held")
def test_a_pod_with_forged_owners_is_judged(kubectl: Kubectl) -> None:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "old-1",
        "uid": "1",
        "controller": True,
    }
    assert "image-registry" in refusal(kubectl, pod("forged", THEIRS, ownerReferences=[owner]))


@pytest.mark.usefixtures("held")
def test_a_debugging_container_is_judged(kubectl: Kubectl) -> None:
    assert not refusal(kubectl, pod("debugged"), "--save-config=false")
    running = kubectl.get("pod", "debugged", "-n", NAMESPACE)
    for image, is_taken in ((THEIRS, False), (OURS, True)):
        debugger = {"name": "debug", "image": image, "securityContext": CONTAINED}
        running["spec"]["ephemeralContainers"] = [debugger]
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/debugged/ephemeralcontainers"
        done = kubectl.run("replace", "--raw", path, "-f", "-", stdin=json.dumps(running))
        assert (done.returncode == 0) == is_taken, done.stderr
        assert is_taken or "spec.ephemeralContainers[name=debug].image" in done.stderr


@pytest.mark.usefixtures("held")
def test_the_api_server_finds_nothing_to_warn_of_in_the_policies(kubectl: Kubectl) -> None:
    def policies() -> list[KubeObject]:
        found: list[KubeObject] = kubectl.get("validatingadmissionpolicies")["items"]
        return found

    wait_until(lambda: all("observedGeneration" in each.get("status", {}) for each in policies()))
    assert not any(each["status"].get("typeChecking") for each in policies())


def test_the_scan_sees_a_policy_that_was_weakened(held: FleetProject, kubectl: Kubectl) -> None:
    assert held.holdfast("drift", "-s", "dev").returncode == 0
    binding = "validatingadmissionpolicybinding/holdfast-dev-workloads-deny"
    change = ("patch", binding, "--type=merge", "-p")
    kubectl(*change, '{"spec": {"validationActions": ["Audit"]}}')
    done = held.holdfast("drift", "-s", "dev")
    assert done.returncode == 7
    assert "spec.validationActions" in done.stdout
    kubectl(*change, '{"spec": {"validationActions": ["Deny", "Audit"]}}')
    wait_until(lambda: bool(refusal(kubectl, deployment("probe", THEIRS))))


def test_a_waiver_holds_until_its_end_and_stands_in_the_audit_log(
    held: FleetProject, sandbox: LiveSandbox, kubectl: Kubectl
) -> None:
    ends = datetime.now(UTC).date() + timedelta(days=30)
    held.declare("\n---\n".join(map(json.dumps, (AGENT, waiver(ends.isoformat())))))
    held.stack().up()
    wait_until(lambda: not refusal(kubectl, deployment("legacy", THEIRS)))
    assert refusal(kubectl, deployment("legacy-too", THEIRS))
    assert "pss-host-namespaces" in refusal(kubectl, deployment("legacy", THEIRS, hostPID=True))
    kubectl.apply(deployment("legacy", THEIRS))
    noted = [
        text
        for event in sandbox.audit_events()
        for key, text in event.get("annotations", {}).items()
        if key.endswith("/waived")
    ]
    assert any(f"waived until {ends} by security" in text for text in noted)
    ended = datetime.now(UTC).date() - timedelta(days=1)
    patch = [{"op": "replace", "path": "/spec/waivers/0/expires", "value": ended.isoformat()}]
    kubectl("patch", "policyparameters", "holdfast-dev", "--type=json", "-p", json.dumps(patch))
    change = ("set", "env", "deployment", "legacy", "-n", NAMESPACE, "--dry-run=server", "A=b")
    wait_until(lambda: "image-registry-allowlist" in kubectl.run(*change).stderr)
    kubectl("delete", "deployment", "legacy", "-n", NAMESPACE)


def test_what_kyverno_gets_is_judged_alike_by_an_api_server(kubectl: Kubectl) -> None:
    """Kyverno evaluates the fields of a ValidatingAdmissionPolicy by the same library."""
    kubectl("create", "namespace", "twin")
    profile, scope = profile_of("prod", RULES), Scope("twin", namespaces=("twin",))
    for exported in kyverno_policies(profile, scope):
        spec = {name: exported["spec"][name] for name in EVALUATED}
        name = exported["metadata"]["name"]
        actions = exported["spec"]["validationActions"]
        binding = {"policyName": name, "validationActions": actions}
        kubectl.apply(
            native("ValidatingAdmissionPolicy", name, spec),
            native("ValidatingAdmissionPolicyBinding", name, binding),
        )
    wait_until(lambda: bool(refusal(kubectl, twin(THEIRS))))
    assert "image-registry-allowlist: spec.template.spec" in refusal(kubectl, twin(THEIRS))
    assert not refusal(kubectl, twin(OURS))


def test_what_gatekeeper_gets_is_compiled_by_an_api_server(kubectl: Kubectl) -> None:
    """Gatekeeper makes such policies of its templates, with `params` from the constraint."""
    objects = gatekeeper_constraints(profile_of("prod"), Scope("twin", namespaces=("twin",)))
    templates = [item for item in objects if item["kind"] == "ConstraintTemplate"]
    for template in templates:
        source = template["spec"]["targets"][0]["code"][0]["source"]
        params = {"name": "params", "expression": "dyn(params).spec.parameters"}
        spec = {
            "paramKind": {"apiVersion": "constraints.example/v1", "kind": "Any"},
            "matchConstraints": {"resourceRules": resource_rules(POD_KINDS)},
            "matchConditions": source["matchCondition"],
            "variables": [params, *source["variables"]],
            "validations": source["validations"],
        }
        twin_of = native("ValidatingAdmissionPolicy", template["metadata"]["name"], spec)
        assert not refusal(kubectl, twin_of)


def native(kind: str, name: str, spec: dict[str, Any]) -> KubeObject:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def twin(image: str) -> KubeObject:
    made = deployment("twin", image)
    made["metadata"]["namespace"] = "twin"
    return made
