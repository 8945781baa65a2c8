from pathlib import Path

import pytest
from holdfast.sandbox.node.cgroups import make_cgroups, remove_cgroups


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    for controller in ("cpu,cpuacct", "cpuset", "memory"):
        (tmp_path / controller).mkdir()
        (tmp_path / controller / "cgroup.procs").touch()
    (tmp_path / "cpu").symlink_to("cpu,cpuacct")
    (tmp_path / "cpuset" / "cpuset.cpus").write_text("0-1\n")
    (tmp_path / "cpuset" / "cpuset.mems").write_text("0\n")
    (tmp_path / "something-else").mkdir()
    return tmp_path


def test_version_1_gets_a_group_in_each_hierarchy_with_processors(version_1: Path) -> None:
    make_cgroups("node", version_1)

    made = sorted(str(path.parent.name) for path in version_1.rglob("node"))
    assert made == ["cpu,cpuacct", "cpuset", "memory"]
    assert (version_1 / "cpuset" / "node" / "cpuset.cpus").read_text() == "0-1\n"
    assert (version_1 / "cpuset" / "node" / "cpuset.mems").read_text() == "0\n"


def test_version_2_gets_one_group(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")

    make_cgroups("node", tmp_path)

    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["node"]


def test_a_group_goes_with_all_below_it_and_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    make_cgroups("node", tmp_path)
    (tmp_path / "node" / "pods" / "one").mkdir(parents=True)
    (tmp_path / "another").mkdir()

    assert remove_cgroups("node", tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["another"]
    assert remove_cgroups("node", tmp_path)


def test_says_when_a_group_is_still_in_use(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    make_cgroups("node", tmp_path)
    # A folder with a file cannot be removed, like a group with a process.
    (tmp_path / "node" / "file").touch()

    assert not remove_cgroups("node", tmp_path, timeout_seconds=0)
