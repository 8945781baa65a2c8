"""What is live becomes what is declared: as a diff, in files, on a branch; or what is expected."""

import json
import subprocess
from collections.abc import Iterator

import pytest
from holdfast.errors import ExitCode

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

SUPPORT = ("-n", "cx", "deployment/support-rag")
VARIABLE = "Deployment cx/support-rag spec.template.spec.containers[name=agent].env[name=EXTRA]"


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    copy = FleetProject.copy(tmp_path_factory.mktemp("adopt"), sandbox)
    copy.stack().init_if_absent()
    copy.stack().up()
    for command in (
        ["init", "-q"],
        ["add", "agents", "stacks", "Pulumi.yaml"],
        ["-c", "user.name=t", "-c", "user.email=t@example.test", "commit", "-qm", "all"],
        ["config", "user.name", "t"],
        ["config", "user.email", "t@example.test"],
    ):
        subprocess.run(["git", *command], cwd=copy.root, check=True)
    return copy


@pytest.fixture
def clean(project: FleetProject) -> Iterator[FleetProject]:
    assert project.drift("--no-engine")[0] == 0
    yield project
    # What the stack's file has adopted stays: a claim does not shrink.
    subprocess.run(["git", "checkout", "-q", "agents"], cwd=project.root, check=True)
    project.holdfast("drift", "revert", "-s", "dev", "--yes")
    # A revert restores what was deployed: what was adopted is deployed by an update.
    project.stack().up()


def test_a_change_is_adopted_where_it_is_declared(clean: FleetProject, kubectl: Kubectl) -> None:
    kubectl("set", "env", *SUPPORT, "EXTRA=1", user="alice")
    larger = json.dumps({"spec": {"resources": {"requests": {"storage": "3Gi"}}}})
    kubectl("-n", "cx", "patch", "pvc/support-rag-index", f"-p={larger}", user="alice")
    host = json.dumps({"spec": {"template": {"spec": {"hostNetwork": True}}}})
    kubectl("-n", "ops", "patch", "deployment/k8s-helper", "--type=merge", f"-p={host}")

    shown = clean.holdfast("drift", "adopt", "-s", "dev")
    assert shown.returncode == ExitCode.DRIFT
    assert '+      - {name: EXTRA, value: "1"}' in shown.stdout
    assert "+++ b/stacks/Pulumi.dev.yaml" in shown.stdout
    assert "size: 3Gi" in shown.stdout
    assert "not adopted: Deployment ops/k8s-helper spec.template.spec.hostNetwork" in shown.stderr
    status = ["git", "status", "--porcelain", "--untracked-files=no"]
    assert not subprocess.check_output(status, cwd=clean.root)

    only = ("--only", VARIABLE)
    branched = clean.holdfast("drift", "adopt", "-s", "dev", *only, "--branch", "adopt-extra")
    assert "on branch adopt-extra" in branched.stderr
    changed = ["git", "diff", "--name-only", "HEAD", "adopt-extra"]
    assert subprocess.check_output(changed, cwd=clean.root, text=True) == (
        "agents/support-rag.yaml\n"
    )
    again = clean.holdfast("drift", "adopt", "-s", "dev", *only, "--branch", "adopt-extra")
    assert again.returncode == ExitCode.BAD_INPUT
    assert "branch adopt-extra exists already" in again.stderr

    assert clean.holdfast("drift", "adopt", "-s", "dev", "--write").returncode == 7
    code, report = clean.drift("--no-engine")
    paths = {each["path"] for each in report["findings"]}
    assert code == ExitCode.DRIFT
    assert "spec.template.spec.hostNetwork" in paths
    assert not any("EXTRA" in path or "storage" in path for path in paths)


def test_a_finding_is_expected_until_its_day(clean: FleetProject, kubectl: Kubectl) -> None:
    kubectl("set", "env", *SUPPORT, "EXTRA=1", user="alice")
    said = ("--reason", "incident", "--owner", "customer-care", "--expires", "2999-01-01")
    done = clean.holdfast("drift", "ignore", VARIABLE, "-s", "dev", *said, "-o", "json")
    assert done.returncode == 0, done.stderr
    (ignored,) = json.loads(done.stdout)["ignored"]
    assert (ignored["owner"], ignored["matches"]) == ("customer-care", 1)
    rules = clean.root / "stacks" / "drift-ignore.yaml"
    rules.write_text(rules.read_text().replace("2999", "2020"))
    code, report = clean.drift("--no-engine")
    rules.unlink()
    assert code == ExitCode.DRIFT
    assert {each["object"]["kind"] for each in report["findings"]} == {
        "Deployment",
        "DriftIgnore",
    }


def test_a_debug_container_is_reported_with_its_user(
    clean: FleetProject, kubectl: Kubectl, sandbox: LiveSandbox
) -> None:
    pods = kubectl.get("pods", "-n", "cx", "-l", "holdfast.dev/agent=support-rag")["items"]
    pod = pods[0]["metadata"]["name"]
    debug = ("debug", "-n", "cx", pod, "--image=registry.example.test/tools/shell:1")
    kubectl(*debug, "--target=agent", "--attach=false", "--profile=restricted")
    code, report = clean.drift("--no-engine", "--audit-log", str(sandbox.audit_log))
    assert code == 7
    (found,) = report["findings"]
    assert (found["object"]["kind"], found["object"]["name"]) == ("Pod", pod)
    assert found["path"].startswith("spec.ephemeralContainers[name=debugger-")
    assert found["actors"][0]["user"] == "admin"
    assert found["actors"][0]["userAgent"].startswith("kubectl/")
    kubectl("delete", "pod", pod, "-n", "cx")
    kubectl("rollout", "status", "deployment/support-rag", "-n", "cx", "--timeout=120s")


def test_each_agent_s_drift_is_dealt_with_as_its_manifest_says(
    clean: FleetProject, kubectl: Kubectl
) -> None:
    """One edit on three agents: put back, proposed on a branch, and only told."""
    modes = {"support-rag": "adopt", "k8s-helper": "revert"}
    for agent, mode in modes.items():
        manifest = clean.root / "agents" / f"{agent}.yaml"
        manifest.write_text(f"{manifest.read_text().rstrip()}\n  drift: {{mode: {mode}}}\n")
    commit = ["git", "-c", "user.name=t", "-c", "user.email=t@example.test", "commit", "-qam", "m"]
    subprocess.run(commit, cwd=clean.root, check=True)
    helper = ("-n", "ops", "deployment/k8s-helper")
    kubectl("set", "env", *SUPPORT, "EXTRA=1", user="alice")
    kubectl("set", "env", *helper, "EXTRA=1", user="alice")
    kubectl("-n", "clinic", "label", "deployment/vision-triage", "extra=1", user="alice")

    acted = clean.holdfast("drift", "revert", "-s", "dev", "--by-mode", "--yes")
    assert acted.returncode == ExitCode.DRIFT, acted.stderr
    (branch,) = [name for name in _branches(clean) if name.startswith("adopt-dev-")]
    changed = ["git", "diff", "--name-only", "HEAD", branch]
    assert subprocess.check_output(changed, cwd=clean.root, text=True) == (
        "agents/support-rag.yaml\n"
    )
    _, report = clean.drift("--no-engine")
    assert {each["agent"] for each in report["findings"]} == {"support-rag", "vision-triage"}
    again = clean.holdfast("drift", "revert", "-s", "dev", "--by-mode", "--yes")
    assert f"adoption waits on branch {branch}" in again.stderr


def _branches(project: FleetProject) -> list[str]:
    listed = ["git", "for-each-ref", "--format=%(refname:short)", "refs/heads"]
    return subprocess.check_output(listed, cwd=project.root, text=True).split()
