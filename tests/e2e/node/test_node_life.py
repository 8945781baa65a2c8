"""A real node comes and goes, and the host does not notice: after `down`, and after every kill."""

import secrets
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.sandbox.node.supervise import first_process
from holdfast.sandbox.process import ProcessIdentity, read_identity, send_signal

from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.node.conftest import skip_without_node
from tests.e2e.node.host_traces import (
    HostTraces,
    groups_of,
    host_traces,
    node_group,
    node_processes,
)

GONE_SECONDS = 20


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> HostTraces:
    # Asked first: where no node can run, the programs that name its traces are missing, too.
    skip_without_node(tmp_path_factory.mktemp("s") / "sandboxes" / "before")
    return host_traces()


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory, before: HostTraces) -> Iterator[LiveSandbox]:
    state = tmp_path_factory.mktemp("s")
    name = f"n{secrets.token_hex(3)}"
    skip_without_node(state / "sandboxes" / name)
    live = LiveSandbox.start(name, state, "--node")
    yield live
    live.stop()


def processes_of_node(sandbox: LiveSandbox) -> dict[str, ProcessIdentity]:
    """The outer process, the one that holds the namespaces, and the first one inside."""
    outer = sandbox.pids()["node"]
    unshare = first_process(outer)
    pids = {"outer": outer, "unshare": unshare, "first": first_process(unshare)}
    found = {name: read_identity(pid) for name, pid in pids.items()}
    return {name: identity for name, identity in found.items() if identity is not None}


def wait_until_gone(sandbox: LiveSandbox, group: str) -> None:
    deadline = time.monotonic() + GONE_SECONDS
    while left := [*groups_of(group), *node_processes(sandbox, group)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def test_a_pod_really_runs_and_the_host_has_nothing_of_it(
    sandbox: LiveSandbox, before: HostTraces
) -> None:
    kubectl = Kubectl(sandbox)

    pods = kubectl.get("pods", "-n", "kube-system", "-l", "k8s-app=kube-dns")["items"]

    assert [pod["spec"]["nodeName"] for pod in pods] == ["real-0"]
    assert "CoreDNS-" in kubectl("logs", "-n", "kube-system", "deployment/coredns")
    assert groups_of(node_group(sandbox))
    assert host_traces() == before


def test_simulated_nodes_stay_for_pods_that_tolerate_them(sandbox: LiveSandbox) -> None:
    nodes = Kubectl(sandbox).get("nodes")["items"]

    taints = {node["metadata"]["name"]: node["spec"].get("taints", []) for node in nodes}
    assert taints.pop("real-0") == []
    assert {taint["key"] for each in taints.values() for taint in each} == {"kwok.x-k8s.io/node"}


def test_status_and_logs_know_the_node(sandbox: LiveSandbox) -> None:
    programs = {each["name"]: each for each in sandbox.status()["programs"]}

    # Kubelet, containerd and the containers count as well.
    assert programs["node"]["residentBytes"] > 150_000_000
    for name in ("node", "kubelet", "containerd", "kube-proxy", "node-agent"):
        done = sandbox.run("logs", name, "--lines", "1")
        assert done.returncode == 0, done.stderr
    assert "the kubelet answers" in sandbox.run("logs", "node").stdout


@pytest.mark.parametrize("killed", ["outer", "unshare", "first"])
def test_whichever_process_is_killed_the_node_ends_whole_and_up_repairs_it(
    killed: str, sandbox: LiveSandbox, before: HostTraces
) -> None:
    group = node_group(sandbox)

    assert send_signal(processes_of_node(sandbox)[killed], signal.SIGKILL)
    wait_until_gone(sandbox, group)

    assert host_traces() == before
    done = sandbox.run("status")
    assert done.returncode == 1
    assert "node has ended" in done.stderr
    # Without --node: a sandbox that has one keeps it.
    done = sandbox.run("up")
    assert done.returncode == 0, done.stderr
    assert sandbox.run("status").returncode == 0


def test_down_leaves_nothing_however_long_the_path(tmp_path: Path, before: HostTraces) -> None:
    # No socket has a path of more than 107 bytes.
    state = tmp_path / ("long" * 30)
    name = f"n{secrets.token_hex(3)}"
    skip_without_node(state / "sandboxes" / name)
    live = LiveSandbox.start(name, state, "--node")
    group = node_group(live)
    assert "CoreDNS-" in Kubectl(live)("logs", "-n", "kube-system", "deployment/coredns")

    live.stop()

    assert groups_of(group) == []
    assert node_processes(live, group) == []
    assert not live.directory.exists()
    assert host_traces() == before


def test_a_sandbox_without_a_node_gets_one_and_keeps_its_objects(tmp_path: Path) -> None:
    name = f"n{secrets.token_hex(3)}"
    skip_without_node(tmp_path / "sandboxes" / name)
    live = LiveSandbox.start(name, tmp_path)
    try:
        Kubectl(live)("create", "namespace", "kept")
        done = live.run("up", "--node")
        assert done.returncode == 0, done.stderr
        assert "started again with its data" in done.stderr or "repaired" in done.stderr
        kubectl = Kubectl(live)
        assert kubectl.get("namespace", "kept")["status"]["phase"] == "Active"
        assert "real-0" in kubectl("get", "nodes")
        # Kept with its data, the node comes back as well.
        assert live.run("down", "--keep").returncode == 0
        assert live.run("up").returncode == 0
        assert "real-0" in Kubectl(live)("get", "nodes")
    finally:
        live.stop()
