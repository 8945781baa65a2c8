"""A stack that a GitOps engine delivers: Holdfast looks on, tells, and leaves it to the engine.

Applied as Flux's kustomize-controller applies it: server-side, with force, under its field manager,
with the labels by which it finds its objects.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.operating import Operating, eventually, operating

pytestmark = pytest.mark.e2e

CYCLES = 10
ENGINE = "kustomize-controller"
IDENTITIES = {
    ENGINE: (f"--as=system:serviceaccount:flux-system:{ENGINE}", "--as-group=system:masters"),
}
"""Flux counts by the account that it runs under; a name alone proves nothing."""
GROUP = "kustomize.toolkit.fluxcd.io"
DEPLOYMENT = ("deployment/coder", "-n", "dev")
IMAGE = "spec.template.spec.containers[name=agent].image"


@dataclass(frozen=True)
class Delivery:
    """A project whose stack `dev` an engine delivers."""

    project: FleetProject
    kubectl: Kubectl
    items: tuple[dict[str, Any], ...]

    def run_cycle(self) -> None:
        """Apply everything once, as the engine does."""
        self.apply(ENGINE, *self.items)

    def apply(self, manager: str, *objects: dict[str, Any]) -> None:
        """Server-side apply under a manager's name."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        options = ("--server-side", "--force-conflicts", "--validate=false", "-f", "-")
        named = (f"--field-manager={manager}", *IDENTITIES.get(manager, ()))
        self.kubectl("apply", *options, *named, stdin=json.dumps(listed))

    def versions(self) -> dict[str, str]:
        """Version of each workload, Service and claim; no status is written to the latter."""
        kinds = "services,configmaps,networkpolicies,serviceaccounts,roles"
        label = f"{GROUP}/name=holdfast-dev"
        found = self.kubectl.get(kinds, "-A", "-l", label)["items"]
        assert found
        return {
            f"{each['kind']}/{each['metadata']['name']}": each["metadata"]["resourceVersion"]
            for each in found
        }

    def generation(self) -> int:
        """How often the declaration of the workload was changed."""
        return int(self.kubectl.get(*DEPLOYMENT)["metadata"]["generation"])

    def writes_of_holdfast(self) -> list[str]:
        """Objects that Holdfast has written; statuses, Events and leases are none of the stack."""
        return [
            f"{target['resource']}/{target.get('name', '')}"
            for event in self.project.sandbox.audit_events()
            for target in [event["objectRef"]]
            if event["verb"] in {"create", "update", "patch", "delete"}
            and event.get("userAgent", "").startswith("holdfast/")
            and target.get("subresource") is None
            and target["resource"] not in {"events", "leases"}
        ]

    def drifted(self) -> dict[str, Any]:
        """The condition of the agent's resource."""
        conditions = self.kubectl.get("agent/coder", "-n", "dev")["status"]["conditions"]
        return next(each for each in conditions if each["type"] == "Drifted")


@pytest.fixture(scope="module")
def delivery(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Delivery:
    """The fleet itself; one of its agents asks for drift to be put back."""
    done = sandbox.run("up", "--with", "holdfast")
    assert done.returncode == 0, done.stderr
    project = FleetProject.copy(tmp_path_factory.mktemp("delivered"), sandbox)
    file = project.root / "stacks" / "Pulumi.dev.yaml"
    mode = "config:\n  holdfast:controllers: [flux]\n  holdfast:agentResources: {mode: observe}\n"
    text = file.read_text().replace("config:\n", mode)
    file.write_text(text.replace("    coder: {", "    coder: {drift: {mode: revert}, "))
    items = json.loads(project.holdfast("render", "-s", "dev", "-o", "json").stdout)["items"]
    for each in items:
        marks = {f"{GROUP}/name": "holdfast-dev", f"{GROUP}/namespace": "flux-system"}
        each["metadata"]["labels"] = {**each["metadata"].get("labels", {}), **marks}
    delivery = Delivery(project, kubectl, tuple(items))
    delivery.apply(ENGINE, *(each for each in items if each["kind"] == "Namespace"))
    delivery.run_cycle()
    kubectl.wait_for("condition=Available", *DEPLOYMENT, seconds=170)
    return delivery


@pytest.fixture(scope="module")
def operator(delivery: Delivery) -> Iterator[Operating]:
    """The operator beside it, in mode observe."""
    with operating(delivery.project.sandbox.kubeconfig(), "dev") as operator:
        operator.wait_for(phase="lead")
        yield operator


def test_ten_cycles_beside_the_operator_and_a_scan_change_nothing(
    delivery: Delivery, operator: Operating, kubectl: Kubectl
) -> None:
    kubectl.wait_for("condition=Ready", "agent/coder", "-n", "dev", seconds=170)
    code, report = delivery.project.drift("--no-engine")
    assert (code, report["findings"]) == (0, []), "no record of an update is needed"
    before, generation = delivery.versions(), delivery.generation()
    for _ in range(CYCLES):
        delivery.run_cycle()
    assert (delivery.versions(), delivery.generation()) == (before, generation)
    assert delivery.drifted()["status"] == "False"
    assert delivery.writes_of_holdfast() == []
    assert operator.process.poll() is None


def test_an_edit_is_reported_with_its_user_and_left_to_the_engine(
    delivery: Delivery, operator: Operating, kubectl: Kubectl
) -> None:
    generation = delivery.generation()
    kubectl("set", "image", *DEPLOYMENT, "agent=x:hotfix", user="alice")
    eventually(lambda: delivery.drifted()["status"] == "True", "the operator tells of it")
    assert f"Flux manages it ({ENGINE})" in delivery.drifted()["message"]
    code, report = delivery.project.drift("--no-engine")
    (finding,) = report["findings"]
    assert (code, finding["path"], finding["live"]) == (7, IMAGE, "x:hotfix")
    assert [actor["user"] for actor in finding["actors"]] == ["alice@example.test"]
    plan = delivery.project.holdfast("drift", "plan", "-s", "dev", "-o", "json")
    planned = json.loads(plan.stdout)
    assert planned["actions"] == []
    assert [ENGINE in left["reason"] for left in planned["left"]] == [True]
    left = delivery.project.holdfast("drift", "revert", "-s", "dev", "--yes")
    assert "Left alone:" in left.stderr
    for _ in range(3):
        delivery.run_cycle()
    eventually(lambda: delivery.drifted()["status"] == "False", "it is over")
    assert delivery.generation() == generation + 2, "one edit, put back once"
    assert delivery.writes_of_holdfast() == []
    assert operator.process.poll() is None


def test_several_who_apply_the_same_do_not_disturb_each_other_and_are_distinguished(
    delivery: Delivery,
) -> None:
    (service,) = [
        each
        for each in delivery.items
        if (each["kind"], each["metadata"]["name"]) == ("Service", "coder")
    ]
    appliers = ("holdfast", "argocd-controller")
    labels = {
        key: value for key, value in service["metadata"]["labels"].items() if GROUP not in key
    }
    # Flux's own labels are Flux's alone.
    rendered = service | {"metadata": service["metadata"] | {"labels": labels}}
    for manager in appliers:
        delivery.apply(manager, rendered)
    before = delivery.versions()
    assert "Service/coder" in before
    for _ in range(CYCLES):
        for manager in appliers:
            delivery.apply(manager, rendered)
        delivery.apply(ENGINE, service)
    assert delivery.versions() == before
    told = delivery.project.holdfast("drift", "owners", "-s", "dev", "-o", "json")
    assert told.returncode == 0, told.stderr
    owners = {
        (each["kind"], each["name"]): [owner["manager"] for owner in each["owners"]]
        for each in json.loads(told.stdout)["objects"]
    }
    assert owners["Service", "coder"] == sorted([*appliers, ENGINE])
    shared = delivery.project.holdfast("drift", "owners", "coder", "-s", "dev", "--shared")
    assert "shared by argocd-controller, holdfast, kustomize-controller" in shared.stdout
    assert "1 object, 1 applied by more than one" in shared.stdout


def test_an_update_of_what_an_engine_delivers_is_refused_with_what_to_do(
    delivery: Delivery,
) -> None:
    before = delivery.versions()
    done = delivery.project.holdfast("up", "-s", "dev", "--allow-dirty", "no repository")
    assert done.returncode == 2, done.stderr
    refused = done.stderr.strip().splitlines()
    assert "already managed by Flux (kustomize-controller): " in done.stderr, refused
    assert "suspend it and run `holdfast up -s dev --take-over` once" in done.stderr
    assert delivery.versions() == before
    told = delivery.project.holdfast("history", "dev", "-o", "json")
    (newest,) = json.loads(told.stdout)["updates"]
    assert newest["outcome"] == "refused"
