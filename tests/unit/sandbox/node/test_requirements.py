"""What a real node needs of the machine: everything that is missing, in one error."""

from pathlib import Path

import pytest
from holdfast.errors import ExitCode, SandboxError
from holdfast.sandbox.node import requirements
from holdfast.sandbox.node.requirements import PROGRAM_NAMES, require_node
from holdfast.sandbox.paths import SandboxPaths

PLACE = SandboxPaths("a", Path("/srv/sandboxes/a"))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine that has everything: root, built programs, packages, cgroups of version 2."""
    tools = tmp_path / "tools"
    system = tmp_path / "system"
    plugins = tmp_path / "cni"
    for folder, names in (
        (tools, PROGRAM_NAMES),
        (system, [each.program for each in requirements.NEEDED]),
        (plugins, requirements.CNI_PLUGINS),
    ):
        folder.mkdir()
        for name in names:
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
    cgroups = tmp_path / "cgroup"
    cgroups.mkdir()
    (cgroups / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (cgroups / "cgroup.subtree_control").write_text("cpuset cpu io memory pids\n")
    monkeypatch.setenv("HOLDFAST_NODE_TOOLS", str(tools))
    monkeypatch.setattr(requirements, "SYSTEM_PATH", str(system))
    monkeypatch.setattr(requirements, "CNI_FOLDERS", (str(plugins),))
    monkeypatch.setattr(requirements, "CGROUPS", cgroups)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return tmp_path


def refusal(place: SandboxPaths = PLACE) -> str:
    with pytest.raises(SandboxError) as caught:
        require_node(place)
    assert caught.value.exit_code is ExitCode.BAD_INPUT
    return str(caught.value)


def test_a_machine_that_has_everything_is_taken(machine: Path) -> None:
    require_node(PLACE)


def test_everything_that_is_missing_is_named_at_once_with_what_to_run(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    (machine / "tools" / "kubelet").unlink()
    (machine / "system" / "runc").unlink()
    (machine / "cni" / "ptp").unlink()

    said = refusal()

    assert "it needs root" in said
    assert "kubelet not found" in said
    assert "run 'make nodetools'" in said
    assert "'apt-get install --no-install-recommends containernetworking-plugins runc'" in said
    assert "leave out --node" in said


def test_a_machine_that_gives_no_namespaces_is_refused_in_its_own_words(machine: Path) -> None:
    unshare = machine / "system" / "unshare"
    unshare.write_text("#!/bin/sh\necho 'unshare failed: Operation not permitted' >&2; exit 1\n")

    assert "gives no namespaces (unshare failed: Operation not permitted)" in refusal()


@pytest.mark.parametrize(
    ("files", "missing", "remedy"),
    [
        (
            {"cgroup.controllers": "cpu cpuset memory pids", "cgroup.subtree_control": "memory"},
            "cpu, cpuset, pids",
            "echo +cpu +cpuset +pids >",
        ),
        ({"cpu/x": "", "memory/x": "", "pids/x": ""}, "cpuset, cpuacct, devices", "mount these"),
    ],
    ids=["version 2", "version 1"],
)
def test_cgroup_controllers_that_are_missing_are_named(
    files: dict[str, str],
    missing: str,
    remedy: str,
    machine: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = machine / "other"
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    monkeypatch.setattr(requirements, "CGROUPS", root)

    said = refusal()

    assert f"cgroup controllers are not offered: {missing};" in said
    assert remedy in said


def test_a_folder_that_no_node_could_see_is_refused(machine: Path) -> None:
    said = refusal(SandboxPaths("a", Path("/var/lib/holdfast/a")))

    assert "has a /var/lib of its own" in said
    assert "HOLDFAST_STATE" in said
