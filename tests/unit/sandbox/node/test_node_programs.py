"""What a real node changes of the control plane, and what its own files say."""

import json
import tomllib
from pathlib import Path

import pytest
from holdfast.sandbox.bootstrap import NODE_NAMES, bootstrap_objects
from holdfast.sandbox.node.agent import make_volumes
from holdfast.sandbox.node.configuration import egress_selector, node_files
from holdfast.sandbox.node.objects import node_objects
from holdfast.sandbox.node.settings import NodeSettings, cgroup_name
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.programs import PROGRAMS, programs_of
from holdfast.sandbox.record import Ports, SandboxRecord

PLACE = SandboxPaths("a", Path("/srv/a"))
PORTS = Ports(1, 2, 3)
SETTINGS = NodeSettings("a", "/srv/a", 1, "/tools", "/usr/lib/cni", "/usr/sbin/runc", "group")


def command_lines(*, has_node: bool) -> dict[str, list[str]]:
    record = SandboxRecord("t", PORTS, has_node=has_node)
    return {each.name: each.arguments(PLACE, PORTS) for each in programs_of(record)}


def test_without_a_node_nothing_changes() -> None:
    assert programs_of(SandboxRecord("t", PORTS)) == PROGRAMS
    taints = [each.content.get("spec") for each in bootstrap_objects()[: len(NODE_NAMES)]]
    assert taints == [None] * len(NODE_NAMES)


def test_a_node_comes_last_and_kwok_leaves_it_alone() -> None:
    lines = command_lines(has_node=True)

    assert list(lines) == [*(program.name for program in PROGRAMS), "node"]
    assert "--manage-all-nodes=true" not in lines["kwok"]
    assert "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake" in lines["kwok"]
    assert [each for each in lines["kwok"] if "volumes" in each] == [
        "--config=/srv/a/configuration/kwok-node-volumes.yaml"
    ]


def test_kubelets_get_their_own_rights_only() -> None:
    arguments = command_lines(has_node=True)["kube-apiserver"]

    assert [each for each in arguments if each.startswith("--authorization-mode")] == [
        "--authorization-mode=Node,RBAC"
    ]
    assert "--enable-admission-plugins=NodeRestriction" in arguments


def test_simulated_nodes_are_tainted_beside_a_real_one() -> None:
    for each in bootstrap_objects(has_node=True)[: len(NODE_NAMES)]:
        (taint,) = each.content["spec"]["taints"]
        assert taint == {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}


def test_the_api_server_reaches_pods_through_the_socket() -> None:
    (selection,) = json.loads(egress_selector(PLACE))["egressSelections"]

    assert selection["name"] == "cluster"
    assert selection["connection"]["transport"] == {"uds": {"udsName": "node.sock"}}


def test_everything_that_a_node_keeps_lies_in_the_sandbox_or_in_its_own_mounts() -> None:
    files = node_files(SETTINGS)
    containerd = tomllib.loads(files["containerd.toml"])
    kubelet = json.loads(files["kubelet.yaml"])

    assert containerd["root"] == "/srv/a/node/containerd"
    assert containerd["state"].startswith("/run/")
    assert kubelet["podLogsDir"] == "/srv/a/node/pod-logs"
    assert kubelet["cgroupRoot"] == "/group"
    assert json.loads(files["kube-proxy.yaml"])["conntrack"] == {"maxPerCore": 0}


def test_service_kubernetes_leads_to_the_bridge() -> None:
    objects = {each.content["kind"]: each.content for each in node_objects(SETTINGS)}

    assert objects["EndpointSlice"]["endpoints"][0]["addresses"] == ["172.31.255.1"]
    assert objects["EndpointSlice"]["ports"][0]["port"] == 1


def test_control_groups_of_two_sandboxes_differ() -> None:
    assert cgroup_name("0123456789abcdef") == "holdfast-0123456789ab"


@pytest.mark.parametrize("declared", [[], ["one"], ["one", "two"]])
def test_folders_of_volumes_follow_the_declared_volumes(
    declared: list[str], tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "kept").touch()
    (tmp_path / "gone").mkdir()
    volumes = [{"spec": {"local": {"path": str(tmp_path / name)}}} for name in declared]
    elsewhere = [{"spec": {"local": {"path": "/etc/x"}}}, {"spec": {"hostPath": {"path": "/x"}}}]

    make_volumes([*volumes, *elsewhere], tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == declared
    assert (tmp_path / "one" / "kept").exists() is ("one" in declared)
