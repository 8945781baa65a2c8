"""The main job, on the real engine and a real API server: deploy, meddle, see, put back, refuse."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.errors import ExitCode
from holdfast.report.documents.fleet import fleet_schema

from tests.e2e.browser import CHROMIUM, overflow
from tests.e2e.config_maps import config_map_name
from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

AGENTS = {"coder", "k8s-helper", "nightly-cost-report", "support-rag", "vision-triage"}
SERVING = (AGENTS - {"nightly-cost-report"}) | {"product-docs"}
SIDECAR = {
    "name": "debug",
    "image": "docker.io/library/busybox:latest",
    "securityContext": {"privileged": True},
}


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    """The five agents, deployed on `dev` with the policy pack."""
    copy = FleetProject.copy(tmp_path_factory.mktemp("project"), sandbox)
    stack = copy.stack()
    assert stack.init_if_absent()
    result = stack.up(policy_pack=copy.root / "policy-pack")
    assert result.counts["create"] > 40
    return copy


@pytest.fixture
def clean(project: FleetProject) -> Iterator[FleetProject]:
    """The deployed project, in sync before the test and put back after it."""
    code, report = project.drift()
    assert code == 0, report
    yield project
    assert project.holdfast("drift", "revert", "-s", "dev", "--yes").returncode == 0


def writes_since(sandbox: LiveSandbox, count: int) -> list[dict[str, Any]]:
    """What people and tools, not controllers, have written since the log had `count` entries."""
    return [
        event
        for event in sandbox.audit_events()[count:]
        if not event["user"]["username"].startswith("system:")
        and "dryRun=" not in event["requestURI"]
    ]


def paths(report: dict[str, Any]) -> set[tuple[str, str, str, str]]:
    return {
        (each["object"]["kind"], each["object"]["name"], each["class"], each["path"])
        for each in report["findings"]
    }


def test_the_five_agents_run(project: FleetProject, kubectl: Kubectl) -> None:
    deployments = kubectl.get("deployments", "-A", "-l", "holdfast.dev/agent")["items"]
    scheduled = kubectl.get("cronjobs", "-A", "-l", "holdfast.dev/agent")["items"]
    assert {each["metadata"]["name"] for each in deployments} == SERVING
    assert {each["metadata"]["labels"]["holdfast.dev/agent"] for each in scheduled} == {
        "nightly-cost-report"
    }
    for each in deployments:
        replicas = f"jsonpath={{.status.readyReplicas}}={each['status']['replicas']}"
        name, namespace = each["metadata"]["name"], each["metadata"]["namespace"]
        kubectl.wait_for(replicas, f"deployment/{name}", "-n", namespace)


def test_a_second_update_without_a_change_writes_nothing(
    project: FleetProject, sandbox: LiveSandbox
) -> None:
    before = len(sandbox.audit_events())
    result = project.stack().up(policy_pack=project.root / "policy-pack")
    assert not result.steps
    assert writes_since(sandbox, before) == []


def test_two_renders_in_two_processes_are_equal_to_the_byte(project: FleetProject) -> None:
    first = project.holdfast("render", "-s", "prod", hash_seed="1")
    second = project.holdfast("render", "-s", "prod", hash_seed="2")
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout


def test_the_api_server_takes_the_rendered_objects_as_they_stand(
    project: FleetProject, kubectl: Kubectl
) -> None:
    rendered = project.holdfast("render", "-s", "dev").stdout
    applied = kubectl(
        *("apply", "--server-side", "--field-manager=holdfast", "--dry-run=server", "-f", "-"),
        stdin=rendered,
    )
    assert len(applied.splitlines()) == rendered.count("\n---") + 1
    code, _ = project.drift()
    assert code == 0


def test_pulumi_sees_no_drift_after_an_update(project: FleetProject) -> None:
    assert not project.stack().refresh_preview().has_drift
    assert not project.stack().preview(refresh=True).steps


def test_five_edits_in_the_cluster_are_seen_named_and_reverted(
    clean: FleetProject, kubectl: Kubectl
) -> None:
    kubectl("set", "image", "deployment/support-rag", "-n", "cx", "agent=x:hotfix", user="alice")
    sidecar = [{"op": "add", "path": "/spec/template/spec/containers/-", "value": SIDECAR}]
    kubectl(
        *("patch", "deployment/coder", "-n", "dev", "--type=json", f"-p={json.dumps(sidecar)}"),
        user="alice",
    )
    kubectl("set", "env", "deployment/k8s-helper", "-n", "ops", "EXTRA=1", user="alice")
    rule = [
        {
            "op": "add",
            "path": "/spec/egress/-",
            "value": {"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]},
        }
    ]
    kubectl(
        *("patch", "networkpolicy/vision-triage", "-n", "clinic", "--type=json"),
        f"-p={json.dumps(rule)}",
        user="alice",
    )
    kubectl("delete", "cronjob/nightly-cost-report-daily", "-n", "finops", user="alice")

    code, report = clean.drift()

    assert code == ExitCode.DRIFT
    containers = "spec.template.spec.containers"
    found = paths(report)
    assert {
        ("Deployment", "support-rag", "changed", f"{containers}[name=agent].image"),
        ("Deployment", "coder", "added", f"{containers}[name=debug]"),
        ("Deployment", "k8s-helper", "added", f"{containers}[name=agent].env[name=EXTRA]"),
        ("CronJob", "nightly-cost-report-daily", "missing", ""),
    } <= found
    assert any(each[:2] == ("NetworkPolicy", "vision-triage") for each in found)
    assert len(found) == 5
    by_name = {each["object"]["name"]: each for each in report["findings"]}
    names = ("support-rag", "coder", "k8s-helper", "vision-triage", "nightly-cost-report-daily")
    for name in names:
        assert by_name[name]["actors"][0]["user"] == "alice@example.test", name
    assert by_name["coder"]["severity"] == "critical"
    assert "pss-privileged" in by_name["coder"]["policies"]
    assert "image-digest-pinned" in by_name["support-rag"]["policies"]
    assert "egress-scoped" in by_name["vision-triage"]["policies"]

    seen_by_pulumi = {
        step.reference.name for step in clean.stack().refresh_preview().drifted if step.reference
    }
    assert seen_by_pulumi == {"support-rag", "nightly-cost-report-daily"}

    reverted = clean.holdfast("drift", "revert", "-s", "dev", "--yes")
    assert reverted.returncode == 0, reverted.stdout + reverted.stderr
    assert clean.drift()[0] == 0
    assert not clean.stack().refresh_preview().has_drift
    assert not clean.stack().preview(refresh=True).steps


def test_the_fleet_page_tells_all_of_a_drifted_fleet_and_what_nobody_could_see(
    clean: FleetProject, kubectl: Kubectl, sandbox: LiveSandbox, tmp_path: Path
) -> None:
    sidecar = [{"op": "add", "path": "/spec/template/spec/containers/-", "value": SIDECAR}]
    kubectl(
        *("patch", "deployment/coder", "-n", "dev", "--type=json", f"-p={json.dumps(sidecar)}"),
        user="alice",
    )
    scan = tmp_path / "dev.json"
    scan.write_text(json.dumps(clean.drift()[1]))
    before, page = len(sandbox.audit_events()), tmp_path / "fleet.html"
    done = clean.holdfast(
        *("status", "-s", "dev", "-s", "prod", "-o", "fleet", "--report", f"html={page}")
    )
    assert done.returncode == ExitCode.ERROR, "the cluster of prod is not there"
    assert writes_since(sandbox, before) == []

    told = json.loads(done.stdout)
    jsonschema.validate(told, fleet_schema())
    dev, prod = told["stacks"]
    agents = {each["name"]: each for each in dev["agents"]}
    assert agents.keys() == SERVING | AGENTS
    assert agents["coder"]["sync"] == "OutOfSync"
    assert agents["coder"]["drift"]["worst"] == "critical"
    assert {each["sync"] for name, each in agents.items() if name != "coder"} == {"Synced"}
    assert agents["support-rag"]["replicas"] == {"fewest": 1, "most": 3, "desired": 1, "ready": 1}
    [finding] = dev["drift"]
    assert finding["timesSeen"] >= 2, "the recorded scan and this one"
    assert "pss-privileged" in finding["policies"]
    assert finding["actors"][0]["user"] == "alice@example.test"
    deeds = {(each["action"], each["outcome"]) for each in dev["updates"]}
    assert ("pulumi", "succeeded") in deeds, "what was put back by hand stands beside it"
    assert {(each["sync"], each["health"]) for each in prod["agents"]} == {("Unknown", "Unknown")}
    assert prod["notChecked"][0]["scope"] == "cluster of stack prod"

    html = page.read_text()
    for said in ("1 of 12 agents drifted", "alice@example.test", "pss-privileged", "not checked"):
        assert said in html
    if CHROMIUM is not None:
        assert overflow(html, 390) == "390"

    saved = clean.holdfast("status", "-s", "dev", "--saved", f"dev={scan}", "-o", "fleet")
    [dev] = json.loads(saved.stdout)["stacks"]
    assert {each["health"] for each in dev["agents"]} == {"Unknown"}, "a scan does not say"
    assert dev["counts"]["sync"] == {"Synced": 5, "OutOfSync": 1, "Unknown": 0}
    offline = clean.holdfast("status", "-s", "prod", "--offline", "-o", "wide")
    assert offline.returncode == 0
    assert "0 Synced, 0 OutOfSync, 6 Unknown" in offline.stdout


def test_an_object_recreated_by_another_client_is_drift_until_a_revert_confirms_it(
    clean: FleetProject, kubectl: Kubectl
) -> None:
    name = config_map_name(kubectl, "coder", "dev")
    manifest = next(
        item
        for item in json.loads(clean.holdfast("render", "-s", "dev", "-o", "json").stdout)["items"]
        if item["kind"] == "ConfigMap" and item["metadata"]["name"] == name
    )
    kubectl("delete", f"configmap/{name}", "-n", "dev", user="alice")
    kubectl(
        *("apply", "--server-side", "--field-manager=holdfast", "-f", "-"),
        stdin=json.dumps(manifest),
    )
    code, report = clean.drift()
    assert code == 7
    assert ("ConfigMap", name, "recreated", "") in paths(report)
    assert clean.holdfast("drift", "revert", "-s", "dev", "--yes").returncode == 0
    assert clean.drift()[0] == 0


def test_a_manifest_that_is_not_compliant_is_refused_by_the_pack(
    project: FleetProject, sandbox: LiveSandbox
) -> None:
    shadow = project.root / "agents" / "shadow.yaml"
    shadow.write_text(
        "apiVersion: holdfast.dev/v1alpha1\n"
        "kind: Agent\n"
        "metadata: {name: shadow, namespace: cx}\n"
        "spec:\n"
        "  version: 0.0.1\n"
        "  owner: nobody\n"
        f"  image: docker.io/x/shadow@sha256:{'7' * 64}\n"
        "  pod: {security: {securityContext: {privileged: true, allowPrivilegeEscalation: true}}}\n"
    )
    before = len(sandbox.audit_events())
    try:
        with pytest.raises(RunFailedError) as refused:
            project.stack().preview(policy_pack=project.root / "policy-pack")
    finally:
        shadow.unlink()
    assert refused.value.exit_code == ExitCode.POLICY
    violated = {each.policy for each in refused.value.result.mandatory_violations}
    assert "pss-privileged" in violated
    assert writes_since(sandbox, before) == []
