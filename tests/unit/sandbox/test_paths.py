import os
from pathlib import Path

import pytest
from holdfast.errors import InputError
from holdfast.sandbox.paths import (
    SandboxPaths,
    existing_sandboxes,
    sandbox_kubeconfig,
    sandbox_paths,
)


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path))
    return tmp_path


def make(name: str) -> SandboxPaths:
    place = sandbox_paths(name)
    place.directory.mkdir(parents=True)
    place.record.touch()
    place.kubeconfig().touch()
    return place


def test_everything_lies_in_a_folder_of_the_sandboxs_name(state: Path) -> None:
    place = sandbox_paths("team-a")

    assert place.directory == state / "sandboxes" / "team-a"
    assert place.context == "holdfast-team-a"
    assert place.kubeconfig("alice") == place.directory / "alice.kubeconfig"
    assert place.log("etcd") == place.directory / "logs" / "etcd.log"
    # The lock must survive the removal of the folder.
    assert place.directory not in place.lock.parents


def test_asking_for_a_place_creates_nothing(state: Path) -> None:
    sandbox_paths("team-a")

    assert list(state.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("../other", "RFC 1123", id="another-folder"),
        pytest.param("Team", "RFC 1123", id="upper-case"),
        pytest.param("a" * 41, "at most 40", id="too-long"),
    ],
)
def test_refuses_names_that_are_no_labels(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        sandbox_paths(name)


def test_knows_the_contexts_of_existing_sandboxes_only() -> None:
    place = make("team-a")

    assert sandbox_kubeconfig("holdfast-team-a") == place.kubeconfig()
    assert sandbox_kubeconfig("holdfast-team-b") is None
    assert sandbox_kubeconfig("team-a") is None
    assert sandbox_kubeconfig("holdfast-../team-a") is None
    assert sandbox_kubeconfig("kind-holdfast-team-a") is None


def test_lists_sandboxes_by_name_and_nothing_else(state: Path) -> None:
    make("b")
    make("a")
    (state / "sandboxes" / "no-sandbox").mkdir()
    (state / "sandboxes" / ".a.removed").mkdir()
    (state / "sandboxes" / ".a.removed" / "sandbox.json").touch()

    assert [place.name for place in existing_sandboxes()] == ["a", "b"]


def test_is_light_enough_for_every_command() -> None:
    # Asked by verbs whose whole run takes half a second.
    import subprocess  # noqa: PLC0415 - only here
    import sys  # noqa: PLC0415 - only here

    script = "import sys, holdfast.sandbox.paths; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    ).stdout.split()

    assert not {"ssl", "subprocess", "cryptography", "msgspec", "click"} & set(loaded)
