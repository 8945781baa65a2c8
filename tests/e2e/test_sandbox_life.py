"""A sandbox's life: side by side, interrupted, broken, repaired, ended. Never somebody else's."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

pytestmark = pytest.mark.e2e


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """A state folder of a test's own; whatever the test leaves running in it is ended."""
    yield tmp_path
    for record in tmp_path.glob("sandboxes/*/sandbox.json"):
        run_holdfast("sandbox", "down", "--name", record.parent.name, state=tmp_path)


def start_up(name: str, state: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.main", "sandbox", "up", "--name", name],
        env=os.environ | {"HOLDFAST_STATE": str(state)},
        stderr=subprocess.PIPE,
        text=True,
    )


def processes_of(folder: Path) -> list[int]:
    """Every process with a file of the folder on its command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        # The tests' own commands name the folder only in their environment.
        if str(folder).encode() in words:
            found.append(int(entry.name))
    return found


def wait_until_started(state: Path, program: str) -> None:
    deadline = time.monotonic() + 60
    while not any(
        program in json.loads(record.read_bytes())["processes"]
        for record in state.glob("sandboxes/*/sandbox.json")
    ):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_two_run_side_by_side_and_end_alone(sandbox: LiveSandbox, state: Path) -> None:
    second = LiveSandbox.start("second", state)
    first_pods, second_kubectl = Kubectl(sandbox), Kubectl(second)
    second_kubectl("create", "configmap", "only-here")

    absent = first_pods.run("get", "configmap", "only-here")
    assert "NotFound" in absent.stderr
    listed = json.loads(run_holdfast("sandbox", "list", "-o", "json", state=state).stdout)
    assert [each["name"] for each in listed["sandboxes"]] == ["second"]

    second.stop()

    assert processes_of(second.directory) == []
    assert not second.directory.exists()
    assert sandbox.status()["healthy"] is True


def test_two_ups_of_one_name_make_one_sandbox(state: Path) -> None:
    both = [start_up("shared", state), start_up("shared", state)]

    words = [process.communicate(timeout=120)[1] for process in both]

    assert [process.returncode for process in both] == [0, 0], words
    assert sorted("already running" in word for word in words) == [False, True]
    assert "waiting for it" in "".join(words)
    assert len(processes_of(state / "sandboxes" / "shared")) == 5


@pytest.mark.parametrize("program", ["etcd", "kube-scheduler"])
def test_a_killed_program_is_named_and_up_repairs_with_the_data_kept(
    state: Path, program: str
) -> None:
    live = LiveSandbox.start("broken", state)
    kubectl = Kubectl(live)
    kubectl("create", "configmap", "precious")
    before = live.pids()
    os.kill(before[program], signal.SIGKILL)

    status = live.run("status")
    assert status.returncode == 1
    assert f"{program} has ended" in status.stderr
    assert "holdfast sandbox up --name broken" in status.stderr

    repaired = live.run("up")

    assert "repaired, with its data" in repaired.stderr, repaired.stderr
    assert not set(live.pids().values()) & set(before.values())
    assert len(processes_of(live.directory)) == 5
    kubectl("get", "configmap", "precious")


def test_down_keep_and_up_go_on_with_the_same_cluster_even_on_another_port(state: Path) -> None:
    live = LiveSandbox.start("kept", state)
    kubectl = Kubectl(live)
    kubectl("create", "configmap", "precious", user="alice")
    kubectl("create", "deployment", "web", "--image=registry.example/web:1")
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")

    assert live.run("down", "--keep").returncode == 0
    assert processes_of(live.directory) == []
    assert live.status()["state"] == "stopped"
    port = int(live.status()["apiServer"].rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        again = live.run("up")

    assert "started again with its data" in again.stderr, again.stderr
    assert f"port {port} is taken" in again.stderr
    kubectl("get", "configmap", "precious", user="alice")
    kubectl.wait_for("condition=Available", "deployment/web")
    assert "alice@example.test" in {event["user"]["username"] for event in live.audit_events()}


@pytest.mark.parametrize(
    ("program", "number"),
    [
        pytest.param("etcd", signal.SIGTERM, id="at-the-beginning-by-a-cancelled-job"),
        pytest.param("kube-controller-manager", signal.SIGINT, id="late-by-control-c"),
    ],
)
def test_an_interrupted_up_leaves_nothing(
    state: Path, program: str, number: signal.Signals
) -> None:
    process = start_up("cut-short", state)
    wait_until_started(state, program)

    process.send_signal(number)
    words = process.communicate(timeout=30)[1]

    assert process.returncode == 8, words
    assert "cancelled" in words
    assert processes_of(state) == []
    assert not (state / "sandboxes" / "cut-short").exists()


@pytest.mark.parametrize("next_verb", ["up", "down"])
def test_what_a_killed_up_left_running_is_found(state: Path, next_verb: str) -> None:
    process = start_up("killed", state)
    wait_until_started(state, "kube-apiserver")
    process.kill()
    process.communicate()
    left = processes_of(state)
    assert left

    done = run_holdfast("sandbox", next_verb, "--name", "killed", state=state)

    assert done.returncode == 0, done.stderr
    assert not set(left) & set(processes_of(state))
    assert len(processes_of(state)) == (5 if next_verb == "up" else 0)


@pytest.mark.parametrize("verb", ["up", "down"])
def test_a_foreign_process_survives_a_stale_record(state: Path, verb: str) -> None:
    directory = state / "sandboxes" / "stale"
    directory.mkdir(parents=True)
    with subprocess.Popen(["sleep", "600"]) as foreign:
        try:
            stale = {"pid": foreign.pid, "start_ticks": 1, "executable": "/bin/x", "boot": "b"}
            names = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]
            record = {
                "token": secrets.token_hex(8),
                "ports": {"api_server": 1, "etcd": 2, "etcd_peer": 3},
                "processes": dict.fromkeys(names, stale),
            }
            (directory / "sandbox.json").write_text(json.dumps(record))

            done = run_holdfast("sandbox", verb, "--name", "stale", state=state)

            assert done.returncode == 0, done.stderr
            assert foreign.poll() is None
        finally:
            foreign.kill()


def test_a_program_that_cannot_start_is_reported_with_its_last_words(
    state: Path, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    names = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]
    for name in names:
        (tools / name).write_text("#!/bin/sh\necho no such luck >&2; sleep 0.2; exit 3\n")
        (tools / name).chmod(0o755)

    done = run_holdfast("sandbox", "up", state=state, variables={"HOLDFAST_TOOLCHAIN": str(tools)})

    assert done.returncode == 1
    assert "etcd ended with exit code 3" in done.stderr
    assert "no such luck" in done.stderr
    assert "Traceback" not in done.stderr
    assert processes_of(state / "sandboxes") == []
