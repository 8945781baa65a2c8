"""Flux applies what Holdfast renders, Holdfast looks on: neither writes without need."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.git.repository import run_git

from tests.e2e.config_maps import config_map_name
from tests.e2e.fleet_project import CLONE, FleetProject
from tests.e2e.flux_controllers import Flux, flux
from tests.e2e.git_server import git_server
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.operating import Operating, eventually, operating
from tests.unit.adapters.git.repository import commit_all

pytestmark = pytest.mark.e2e

CYCLES = 10
ENGINE = "kustomize-controller"
FLUX_USER = f"system:serviceaccount:flux-system:{ENGINE}"
DEPLOYMENT = ("deployment/coder", "-n", "dev")
IMAGE = "spec.template.spec.containers[name=agent].image"


@dataclass
class Delivery:
    """A project, the repository that it is rendered to, and Flux that applies it.

    Attributes:
        cycle: How often Flux was asked so far.
    """

    project: FleetProject
    repository: Path
    address: str
    flux: Flux
    cycle: int = 0

    def deliver(self) -> None:
        """Render, commit, push, and wait until Flux has applied it."""
        where = ("--repo", f"{self.address}/fleet.git", "--path", "deploy", "--force")
        folder = self.repository / "deploy"
        to = ("--to", str(folder))
        done = self.project.holdfast("render", "-s", "dev", "-o", "flux", *to, *where)
        assert done.returncode == 0, done.stderr
        commit_all(self.repository, f"Deliver {self.cycle}")
        run_git(self.repository, "push", "--quiet", "origin", "HEAD:main")
        self.flux.kubectl("apply", "--server-side", "-f", str(folder / "flux" / "dev.yaml"))
        self.run_cycle()

    def run_cycle(self) -> None:
        """One fetch and one reconciliation."""
        self.cycle += 1
        self.flux.reconcile(self.cycle)

    def writes(self, since: int = 0) -> list[tuple[str, str, str]]:
        """Who wrote what how, of all that the stack declares; statuses and trials are none."""
        return [
            (_writer(event), event["verb"], f"{target['resource']}/{target.get('name', '')}")
            for event in self.project.sandbox.audit_events()[since:]
            for target in [event["objectRef"]]
            if event["verb"] in {"create", "update", "patch", "delete"}
            and target.get("subresource") is None
            and target["resource"] not in {"events", "leases"}
            and "toolkit.fluxcd.io" not in target.get("apiGroup", "")
            and "dryRun=All" not in event["requestURI"]
            and _writer(event) in {FLUX_USER, "holdfast", "alice@example.test"}
        ]

    @property
    def generation(self) -> int:
        """How often the declaration of the workload was changed."""
        return int(self.flux.kubectl.get(*DEPLOYMENT)["metadata"]["generation"])

    @property
    def now(self) -> int:
        """Where the audit log ends."""
        return len(self.project.sandbox.audit_events())


def _writer(event: dict[str, Any]) -> str:
    """The user; Holdfast, which works as admin here, by its client's name."""
    is_ours = event.get("userAgent", "").startswith("holdfast/")
    return "holdfast" if is_ours else str(event["user"]["username"])


@pytest.fixture(scope="module")
def tools() -> Path:
    """The controllers of Flux, as `make fluxtools` builds them: too long for every run in CI."""
    script = str(CLONE / "toolchain" / "test_tools.py")
    command = [sys.executable, script, "--flux", "--print"]
    folder = Path(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    )
    if not folder.exists():
        pytest.skip("the controllers of Flux are not built: run `make fluxtools` first")
    return folder


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    """The fleet itself; one of its agents asks for drift to be put back."""
    done = sandbox.run("up", "--with", "holdfast")
    assert done.returncode == 0, done.stderr
    copy = FleetProject.copy(tmp_path_factory.mktemp("delivered"), sandbox)
    file = copy.root / "stacks" / "Pulumi.dev.yaml"
    text = file.read_text().replace(
        "config:\n",
        "config:\n  holdfast:controllers: [flux]\n  holdfast:agentResources: {mode: observe}\n",
    )
    held = text.replace("    coder: {", "    coder: {drift: {mode: revert}, ")
    assert held != text
    file.write_text(held)
    return copy


@pytest.fixture(scope="module")
def delivery(
    tools: Path, project: FleetProject, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Delivery]:
    """Everything of stack `dev`, applied by Flux and by nobody else."""
    served, written = tmp_path_factory.mktemp("served"), tmp_path_factory.mktemp("written")
    bare = served / "fleet.git"
    bare.mkdir()
    run_git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    run_git(written, "init", "--quiet", "--initial-branch=main")
    run_git(written, "remote", "add", "origin", str(bare))
    folder = tmp_path_factory.mktemp("flux")
    with git_server(served) as address, flux(tools, kubectl, folder, "holdfast-dev") as running:
        delivery = Delivery(project, written, address, running)
        delivery.deliver()
        yield delivery


@pytest.fixture(scope="module")
def operator(delivery: Delivery) -> Iterator[Operating]:
    """The operator beside Flux, in mode observe."""
    with operating(delivery.project.sandbox.kubeconfig(), "dev") as operator:
        operator.wait_for(phase="lead")
        yield operator


def test_flux_applies_the_whole_environment_and_a_scan_without_a_record_is_clean(
    delivery: Delivery, kubectl: Kubectl
) -> None:
    items = json.loads(delivery.project.holdfast("render", "-s", "dev", "-o", "json").stdout)
    inventory = kubectl.get("kustomization/holdfast-dev", "-n", "flux-system")["status"]
    assert len(inventory["inventory"]["entries"]) == len(items["items"])
    code, report = delivery.project.drift("--no-engine")
    assert (code, report["findings"]) == (0, [])


def test_ten_cycles_beside_the_operator_write_nothing(
    delivery: Delivery, operator: Operating, kubectl: Kubectl
) -> None:
    kubectl.wait_for("condition=Ready", "agent/coder", "-n", "dev", seconds=170)
    since = delivery.now
    for _ in range(CYCLES):
        delivery.run_cycle()
    assert delivery.project.drift("--no-engine")[0] == 0
    assert delivery.writes(since) == []
    assert operator.metric("holdfast_operator_writes_total", what="apply") == 0
    assert operator.metric("holdfast_operator_writes_total", what="patch") == 0


def test_an_edit_is_reported_with_its_user_and_reverted_once_by_flux_alone(
    delivery: Delivery, operator: Operating, kubectl: Kubectl
) -> None:
    since, generation = delivery.now, delivery.generation
    kubectl("set", "image", *DEPLOYMENT, "agent=x:hotfix", user="alice")

    def drifted() -> dict[str, Any]:
        conditions = kubectl.get("agent/coder", "-n", "dev")["status"]["conditions"]
        return next(each for each in conditions if each["type"] == "Drifted")

    eventually(lambda: drifted()["status"] == "True", "the operator tells of it")
    assert f"Flux manages it ({ENGINE})" in drifted()["message"]
    code, report = delivery.project.drift("--no-engine")
    (finding,) = report["findings"]
    assert (code, finding["path"], finding["live"]) == (7, IMAGE, "x:hotfix")
    assert [actor["user"] for actor in finding["actors"]] == ["alice@example.test"]
    plan = delivery.project.holdfast("drift", "plan", "-s", "dev", "-o", "json")
    planned = json.loads(plan.stdout)
    assert planned["actions"] == []
    assert [ENGINE in left["reason"] for left in planned["left"]] == [True]
    refused = delivery.project.holdfast("drift", "revert", "-s", "dev", "--yes")
    assert "Left alone:" in refused.stderr
    for _ in range(3):
        delivery.run_cycle()
    eventually(lambda: drifted()["status"] == "False", "it is over")
    # Flux takes the fields from kubectl's manager, then applies: two requests, one change.
    writers = ["alice@example.test", FLUX_USER, FLUX_USER]
    assert delivery.writes(since) == [(each, "patch", "deployments/coder") for each in writers]
    assert delivery.generation == generation + 2, "one edit, put back once"
    assert delivery.project.drift("--no-engine")[0] == 0


def test_flux_takes_away_what_kubectl_added_and_only_a_scan_tells_what_a_console_did(
    delivery: Delivery, kubectl: Kubectl
) -> None:
    def paths() -> list[str]:
        return [finding["path"] for finding in delivery.project.drift("--no-engine")[1]["findings"]]

    def patch(field: str, value: int | None, *options: str) -> None:
        added = json.dumps({"spec": {field: value}})
        kubectl("patch", *DEPLOYMENT, "--type=merge", "-p", added, *options, user="alice")

    patch("minReadySeconds", 5)
    assert paths() == ["spec.minReadySeconds"]
    delivery.run_cycle()
    assert paths() == []
    patch("minReadySeconds", 5, "--field-manager=console")
    delivery.run_cycle()
    assert paths() == ["spec.minReadySeconds"]
    patch("minReadySeconds", None, "--field-manager=console")
    assert paths() == []


def test_several_who_apply_the_same_do_not_disturb_each_other_and_are_distinguished(
    delivery: Delivery, kubectl: Kubectl
) -> None:
    listed = json.loads(delivery.project.holdfast("render", "-s", "dev", "-o", "json").stdout)
    service = json.dumps(
        next(
            each
            for each in listed["items"]
            if (each["kind"], each["metadata"]["name"]) == ("Service", "coder")
        )
    )
    appliers = ("holdfast", "argocd-controller")

    def apply(manager: str) -> str:
        options = ("--server-side", f"--field-manager={manager}", "-f", "-")
        kubectl("apply", *options, stdin=service)
        found = kubectl.get("service/coder", "-n", "dev")
        return str(found["metadata"]["resourceVersion"])

    version = [apply(manager) for manager in appliers][-1]
    for _ in range(CYCLES):
        assert {apply(manager) for manager in appliers} == {version}
    delivery.run_cycle()
    assert apply("holdfast") == version
    assert delivery.project.drift("--no-engine")[0] == 0
    told = delivery.project.holdfast("drift", "owners", "-s", "dev", "-o", "json")
    assert told.returncode == 0, told.stderr
    owners = {
        (each["kind"], each["name"]): [owner["manager"] for owner in each["owners"]]
        for each in json.loads(told.stdout)["objects"]
    }
    assert owners["Service", "coder"] == sorted([*appliers, ENGINE])
    assert owners["ConfigMap", config_map_name(kubectl, "coder", "dev")] == [ENGINE]


def test_an_agent_that_is_removed_from_git_leaves_its_data(
    delivery: Delivery, kubectl: Kubectl
) -> None:
    (delivery.project.root / "agents" / "coder.yaml").unlink()
    file = delivery.project.root / "stacks" / "Pulumi.dev.yaml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("    coder:")]
    file.write_text("\n".join(lines) + "\n")
    delivery.deliver()
    kubectl.wait_for("delete", *DEPLOYMENT, seconds=170)
    claim = kubectl.get("pvc/coder-project", "-n", "dev")
    assert claim["status"]["phase"] == "Bound"
    assert not claim["metadata"].get("deletionTimestamp")
