"""Agents that use what surrounds them, on the real engine with the projects' real definitions.

Their controllers do not run here: where one acts, the test plays it.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.errors import EngineError
from holdfast.kube.objects import KubeObject

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.surrounded_agents import (
    DEFINED,
    FLEET,
    KEEPER,
    NAMESPACE,
    SETTINGS,
    STORAGE,
    VALUE,
    agent,
    manifests,
    secret,
    shared,
)

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def project(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FleetProject]:
    """Four agents that use everything, deployed; their Secret and ConfigMap were there before."""
    done = sandbox.run("up", "--with", ",".join(DEFINED))
    assert done.returncode == 0, done.stderr
    kubectl("create", "namespace", NAMESPACE)
    kubectl.apply(secret("db", VALUE), shared("https://one.example"))
    root = tmp_path_factory.mktemp("around")
    written = FleetProject.write(root, sandbox, FLEET, SETTINGS)
    stack = written.stack()
    assert stack.init_if_absent()
    stack.up()
    yield written
    kubectl("delete", "namespace", NAMESPACE, "--wait=false")


def annotations(kubectl: Kubectl, name: str) -> dict[str, str]:
    template = kubectl.get("deployment", name, "-n", NAMESPACE)["spec"]["template"]
    found: dict[str, str] = template["metadata"]["annotations"]
    return found


def test_every_kind_is_accepted_by_its_own_definition(
    project: FleetProject, kubectl: Kubectl
) -> None:
    del project
    for kind, names in {
        "ciliumnetworkpolicies": {"open", "open-during-update", "keeper-backup"},
        "cronjobs": {"keeper-backup", "saver-backup"},
        "externalsecrets": {"secretive-llm", "secretive-all", "secretive-crm"},
        "httproutes": {"open"},
        "prometheusrules": {"open"},
        "secretstores": {"secretive-aws"},
        "servicemonitors": {"open"},  # the others declare no metrics
    }.items():
        listed = kubectl.get(kind, "-n", NAMESPACE)["items"]
        assert {each["metadata"]["name"] for each in listed} == names, kind


def test_a_second_update_changes_nothing_and_the_scan_is_clean(project: FleetProject) -> None:
    assert not project.stack().up().steps
    code, report = project.drift()
    assert code == 0, report["findings"]


def test_backups_end_before_the_pods_that_they_precede(
    project: FleetProject, kubectl: Kubectl
) -> None:
    del project
    for name in ("keeper", "saver"):
        jobs = kubectl.get("jobs", "-n", NAMESPACE, "-l", f"holdfast.dev/agent={name}")["items"]
        (job,) = [each for each in jobs if each["metadata"]["name"].startswith(f"{name}-backup-")]
        deployment = kubectl.get("deployment", name, "-n", NAMESPACE)
        ended = job["status"]["completionTime"]
        assert ended <= deployment["metadata"]["creationTimestamp"]


def test_a_changed_secret_rolls_the_pods_and_shows_nowhere(
    project: FleetProject, kubectl: Kubectl, capfd: pytest.CaptureFixture[str]
) -> None:
    before = annotations(kubectl, "keeper")["holdfast.dev/mounted-hash"]
    other = "another-" + VALUE
    kubectl.apply(secret("db", other))
    preview = project.stack().preview()
    assert "keeper-deployment" in str(preview.steps)
    result = project.stack().up()
    after = annotations(kubectl, "keeper")["holdfast.dev/mounted-hash"]
    assert before != after
    assert "keeper-deployment" in str(result.steps)
    assert "secretive-deployment" not in str(result.steps)
    code, report = project.drift()
    assert code == 0, report["findings"]
    page = project.holdfast("drift", "-s", "dev").stdout
    seen = [*map(str, (preview, result, report)), page, *capfd.readouterr()]
    files = [path for path in project.sandbox.state.rglob("*") if path.is_file()]
    etcd = project.sandbox.directory / "etcd"
    kept = [path.read_bytes() for path in files if not path.is_relative_to(etcd)]
    for value in (VALUE, other):
        assert not any(value in text for text in seen)
        assert not any(value.encode() in content for content in kept)


def test_a_changed_config_map_of_others_rolls_the_pods(
    project: FleetProject, kubectl: Kubectl
) -> None:
    before = annotations(kubectl, "keeper")["holdfast.dev/mounted-hash"]
    kubectl.apply(shared("https://two.example"))
    project.stack().up()
    assert annotations(kubectl, "keeper")["holdfast.dev/mounted-hash"] != before


def test_a_claim_is_not_shrunk(project: FleetProject) -> None:
    volume = {"name": "index", "size": "1Gi", "mountPath": "/data"}
    smaller = KEEPER | {"storage": STORAGE | {"volumes": [volume]}}
    project.declare(FLEET.replace(agent("keeper", **KEEPER), agent("keeper", **smaller)))
    try:
        with pytest.raises(EngineError) as refused:
            project.stack().preview()
    finally:
        project.declare(FLEET)
    said = str(refused.value)
    assert "agents/declared.yaml:1:" in said
    assert "spec.storage.volumes[0].size: expected at least the size that the claim has" in said
    assert "got 1Gi, the claim has 2Gi" in said
    assert refused.value.exit_code == 2


def test_a_claim_is_not_recreated_unawares(project: FleetProject) -> None:
    volume = {"name": "index", "size": "2Gi", "mountPath": "/data", "storageClassName": "other"}
    moved = agent("keeper", **(KEEPER | {"storage": STORAGE | {"volumes": [volume]}}))
    project.declare(FLEET.replace(agent("keeper", **KEEPER), moved))
    try:
        with pytest.raises(EngineError) as refused:
            project.stack().preview()
    finally:
        project.declare(FLEET)
    said = str(refused.value)
    assert "cannot be changed without recreating the claim and losing its data" in said


def test_a_new_claim_is_filled_from_a_snapshot(project: FleetProject, kubectl: Kubectl) -> None:
    restored = agent(
        "restored",
        storage={
            "volumes": [{"name": "index", "size": "2Gi", "mountPath": "/data"}],
            "restoreFrom": "keeper-index-20261120030000",
        },
    )
    project.declare(manifests(FLEET, restored))
    # Nothing fills the claim here, so the pods that mount it are not waited for.
    preview = project.stack().preview()
    assert "restored-claim-index" in str(preview.steps)
    rendered = project.holdfast("render", "-s", "dev", "--agent", "restored", "-o", "json").stdout
    (claim,) = [
        each for each in json.loads(rendered)["items"] if each["kind"] == "PersistentVolumeClaim"
    ]
    kubectl.apply(claim)
    live = kubectl.get("pvc", "restored-index", "-n", NAMESPACE)["spec"]["dataSource"]
    assert live == {
        "apiGroup": "snapshot.storage.k8s.io",
        "kind": "VolumeSnapshot",
        "name": "keeper-index-20261120030000",
    }
    kubectl("delete", "pvc", "restored-index", "-n", NAMESPACE, "--wait=false")
    project.declare(FLEET)


def script_of(kubectl: Kubectl) -> str:
    job = kubectl.get("cronjob", "keeper-backup", "-n", NAMESPACE)["spec"]["jobTemplate"]
    command = job["spec"]["template"]["spec"]["containers"][0]["command"]
    assert command[:2] == ["/bin/sh", "-ec"]
    script: str = command[2]
    return script


def test_the_snapshot_script_saves_waits_and_tidies_with_its_own_rights(
    project: FleetProject, kubectl: Kubectl, tmp_path: Path
) -> None:
    server = project.sandbox.status()["apiServer"]
    (tmp_path / "token").write_text(kubectl("create", "token", "keeper-backup", "-n", NAMESPACE))
    authority = kubectl.get("configmap", "kube-root-ca.crt", "-n", NAMESPACE)["data"]["ca.crt"]
    (tmp_path / "ca.crt").write_text(authority)
    labels = {"holdfast.dev/backup-of": "keeper", "holdfast.dev/backup-day": "20200101"}
    source = {"source": {"persistentVolumeClaimName": "keeper-index"}}
    old: KubeObject = {
        "apiVersion": "snapshot.storage.k8s.io/v1",
        "kind": "VolumeSnapshot",
        "metadata": {"name": "old", "namespace": NAMESPACE, "labels": labels},
        "spec": source,
    }
    other = {"name": "other", "namespace": NAMESPACE}
    kept = old | {"metadata": other}
    kubectl.apply(old, kept)
    variables = {"HOLDFAST_API": server, "HOLDFAST_ACCOUNT": str(tmp_path)}
    running = subprocess.Popen(
        ["/bin/sh", "-ec", script_of(kubectl)],
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        name = _snapshot_made(kubectl)
        assert running.poll() is None  # it waits for the snapshot
        ready = json.dumps({"status": {"readyToUse": True}})
        place = ("-n", NAMESPACE, "--subresource=status", "--type=merge", "-p", ready)
        kubectl("patch", "volumesnapshot", name, *place)
        said, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 0, errors
    assert said.strip() == name
    snapshots = {
        each["metadata"]["name"]: each
        for each in kubectl.get("volumesnapshots", "-n", NAMESPACE)["items"]
    }
    assert set(snapshots) == {"other", name}
    assert snapshots[name]["spec"] == source


def _snapshot_made(kubectl: Kubectl) -> str:
    kubectl.wait_for(
        "create",
        "volumesnapshot",
        "-n",
        NAMESPACE,
        "-l",
        "holdfast.dev/backup-of=keeper,holdfast.dev/backup-day!=20200101",
    )
    chosen = "holdfast.dev/backup-of=keeper,holdfast.dev/backup-day!=20200101"
    (found,) = kubectl.get("volumesnapshots", "-n", NAMESPACE, "-l", chosen)["items"]
    name: str = found["metadata"]["name"]
    return name


def test_a_changed_workload_is_saved_before_its_new_pods_are_made(
    project: FleetProject, kubectl: Kubectl
) -> None:
    newer = KEEPER | {"container": {"args": ["--newer"]}}
    project.declare(FLEET.replace(agent("keeper", **KEEPER), agent("keeper", **newer)))
    project.stack().up()
    selector = ("-n", NAMESPACE, "-l", "holdfast.dev/agent=keeper")
    backups = [
        each
        for each in kubectl.get("jobs", *selector)["items"]
        if each["metadata"]["name"].startswith("keeper-backup-")
    ]
    job = max(backups, key=lambda each: str(each["metadata"]["creationTimestamp"]))
    sets = kubectl.get("replicasets", *selector)["items"]
    latest = max(each["metadata"]["creationTimestamp"] for each in sets)
    assert len(sets) > 1
    assert job["status"]["completionTime"] <= latest
    project.declare(FLEET)


def test_an_agent_whose_node_is_lost_runs_on_another_with_its_data(
    project: FleetProject, kubectl: Kubectl
) -> None:
    del project
    selector = ("-n", NAMESPACE, "-l", "app.kubernetes.io/name=keeper")
    [before] = kubectl.get("pods", *selector)["items"]
    claim = kubectl.get("pvc/keeper-index", "-n", NAMESPACE)
    kubectl("delete", "node", before["spec"]["nodeName"])
    kubectl("delete", "pod", before["metadata"]["name"], "-n", NAMESPACE, "--ignore-not-found")
    kubectl.wait_for("condition=Available", "deployment/keeper", "-n", NAMESPACE, seconds=120)
    after = [
        pod
        for pod in kubectl.get("pods", *selector)["items"]
        if not pod["metadata"].get("deletionTimestamp")
    ]
    assert {pod["metadata"]["uid"] for pod in after}.isdisjoint({before["metadata"]["uid"]})
    assert all(pod["spec"]["nodeName"] != before["spec"]["nodeName"] for pod in after)
    live = kubectl.get("pvc/keeper-index", "-n", NAMESPACE)
    assert live["status"]["phase"] == "Bound"
    assert live["metadata"]["uid"] == claim["metadata"]["uid"]
    assert live["spec"]["volumeName"] == claim["spec"]["volumeName"]
