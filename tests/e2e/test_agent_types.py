"""Agents of type Job and Sandbox, and the kinds as custom resources, on the real API server."""

from pathlib import Path

import pytest

from tests.e2e.fleet_project import CLONE, FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

pytestmark = pytest.mark.e2e

DIGEST = "3c8e1f2a4b5d6c7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e"
SETTINGS = {
    "controllers": ["agent-sandbox", "keda"],
    "telemetry": {"prometheusUrl": "http://prometheus.monitoring.svc:9090"},
}
HEAD = """\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: {name}, namespace: kinds}}
spec:
  version: 1.0.0
  image: registry.example/{name}@sha256:{digest}
"""
AGENTS = {
    "nightly": """\
  type: Job
  job:
    schedules:
      - {id: nightly, cron: "0 2 * * *", timezone: Europe/London, input: "Summarise $(date)"}
      - {cron: "*/30 * * * *", concurrencyPolicy: Replace, historyLimit: 1, retries: 2,
         suspend: true, ttlSecondsAfterFinished: 3600}
    triggers:
      - {id: waiting, metric: queue_depth, selector: {queue: a}, perRun: 2, maxRuns: 4,
         suspend: true}
  storage: {volumes: [{name: notes, size: 1Gi, mountPath: /notes}]}
""",
    "coder": """\
  type: Sandbox
  pod: {runtimeClassName: gvisor}
  sandbox: {shutdownAfter: 2h}
  storage: {volumes: [{name: project, size: 1Gi, mountPath: /project}]}
""",
    "pool": """\
  type: Sandbox
  sandbox:
    {warmPool: {replicas: 2}, claim: true, ttlSecondsAfterFinished: 60, envInjection: Allowed}
  storage: {volumes: [{name: project, size: 1Gi, mountPath: /project}]}
""",
}
MANIFESTS = "---\n".join(
    HEAD.format(name=name, digest=DIGEST) + spec for name, spec in AGENTS.items()
)


@pytest.fixture(scope="module")
def project(defined_sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    """One agent of each shape, deployed."""
    written = FleetProject.write(
        tmp_path_factory.mktemp("kinds"), defined_sandbox, MANIFESTS, SETTINGS
    )
    stack = written.stack()
    assert stack.init_if_absent()
    stack.up()
    return written


def test_every_shape_is_accepted_and_a_second_update_writes_nothing(
    project: FleetProject, kubectl: Kubectl
) -> None:
    kinds = "cronjobs,scaledjobs,sandboxes,sandboxtemplates,sandboxwarmpools,sandboxclaims,services"
    found = kubectl.get(kinds, "-n", "kinds")["items"]
    assert sorted((each["kind"], each["metadata"]["name"]) for each in found) == [
        ("CronJob", "nightly-1"),
        ("CronJob", "nightly-nightly"),
        ("Sandbox", "coder"),
        ("SandboxClaim", "pool"),
        ("SandboxTemplate", "pool"),
        ("SandboxWarmPool", "pool"),
        ("ScaledJob", "nightly-waiting"),
        ("Service", "coder"),
    ]
    assert not project.stack().preview().steps
    assert not project.stack().refresh_preview().has_drift


def test_a_scan_right_after_finds_nothing(project: FleetProject) -> None:
    code, report = project.drift()
    assert code == 0, report["findings"]


def test_a_run_started_by_the_schedule_has_its_input_and_its_claim(
    project: FleetProject, kubectl: Kubectl
) -> None:
    del project
    kubectl("create", "job", "now", "--from=cronjob/nightly-nightly", "-n", "kinds")
    kubectl.wait_for("condition=complete", "job/now", "-n", "kinds", seconds=60)
    pod = kubectl.get("pods", "-n", "kinds", "-l", "job-name=now")["items"][0]
    env = {entry["name"]: entry.get("value") for entry in pod["spec"]["containers"][0]["env"]}
    assert env["AGENT_INPUT"] == "Summarise $$(date)"
    assert kubectl.get("pvc/nightly-notes", "-n", "kinds")["status"]["phase"] == "Bound"


def test_a_drifted_schedule_is_seen_and_reverted(project: FleetProject, kubectl: Kubectl) -> None:
    patch = '{"spec": {"schedule": "* * * * *"}}'
    kubectl("patch", "cronjob/nightly-1", "-n", "kinds", "--type=merge", "-p", patch)
    code, report = project.drift()
    assert code == 7
    assert [each["path"] for each in report["findings"]] == ["spec.schedule"]
    assert project.holdfast("drift", "revert", "-s", "dev", "--yes").returncode == 0
    assert project.drift()[0] == 0


def test_a_changed_sandbox_is_recreated_and_keeps_its_claim(
    project: FleetProject, kubectl: Kubectl
) -> None:
    before = kubectl.get("sandbox/coder", "-n", "kinds")["metadata"]["uid"]
    claim = kubectl.get("pvc/coder-project", "-n", "kinds")["metadata"]["uid"]
    pool = kubectl.get("sandboxtemplate/pool", "-n", "kinds")["metadata"]["uid"]
    project.declare(MANIFESTS.replace("shutdownAfter: 2h", "shutdownAfter: 3h"))
    result = project.stack().up()
    assert result.counts["replace"] == 1
    after = kubectl.get("sandbox/coder", "-n", "kinds")
    assert after["metadata"]["uid"] != before
    assert after["spec"]["podTemplate"]["spec"]["activeDeadlineSeconds"] == 10_800
    assert kubectl.get("pvc/coder-project", "-n", "kinds")["metadata"]["uid"] == claim
    assert kubectl.get("sandboxtemplate/pool", "-n", "kinds")["metadata"]["uid"] == pool


def test_the_samples_pass_as_custom_resources(kubectl: Kubectl, tmp_path: Path) -> None:
    """The printed definitions are accepted, and so are the samples: nothing is lost."""
    definitions = tmp_path / "definitions.yaml"
    definitions.write_text(run_holdfast("operator", "install", "--export").stdout)
    kubectl("apply", "--server-side", "-f", str(definitions))
    kubectl.wait_for("condition=Established", "crd/agents.holdfast.dev")
    for namespace in ("clinic", "cx", "dev", "finops", "ops", "tools"):
        kubectl.run("create", "namespace", namespace)
    answer = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(CLONE / "agents"))
    assert answer.count("agent.holdfast.dev/") == 5
    bad = (CLONE / "agents" / "coder.yaml").read_text().replace("version: 0.9.2", "version: 1")
    refused = kubectl.run("apply", "--dry-run=server", "-f", "-", stdin=bad)
    assert "spec.version" in refused.stderr
    misspelt = (CLONE / "agents" / "coder.yaml").read_text().replace("  owner:", "  ownr:")
    refused = kubectl.run(
        "apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=misspelt
    )
    assert 'unknown field "spec.ownr"' in refused.stderr
    kubectl("delete", "-f", str(definitions), "--wait=false")
