"""Rows 6 and 8 to 12 of the fault matrix: who may change a stack, and who no longer does."""

import json
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from holdfast.adapters.engine.backend.processes import pid_namespace
from holdfast.adapters.engine.backend.stack_lock import stack_lock
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.baseline import read_baseline
from holdfast.adapters.engine.state.interrupted import interrupted, recover_interrupted
from holdfast.errors import EngineError, ExitCode

from tests.e2e.engine.runs import PATIENCE_SECONDS, driven, started, wait_until
from tests.e2e.engine.states import assert_converges, files_of, names_in_state, recovered
from tests.e2e.pulumi_project import PulumiProject

pytestmark = pytest.mark.e2e

IMAGE = "registry/app:1"
DEAD = {
    "pid": 2**22 + 1,
    "username": "ann",
    "hostname": socket.gethostname(),
    "timestamp": "then",
    "pidNamespace": pid_namespace(),
}


def test_rows_6_and_8_a_second_update_names_the_first_which_a_signal_ends_in_order(
    project: PulumiProject,
) -> None:
    project.declare(project.config_map("one", a="1"), project.deployment("app", IMAGE, held=True))
    stack = project.stack()
    with driven(project) as driver:
        wait_until(lambda: bool(interrupted(stack).pending), driver)
        wait_until(lambda: "one" in names_in_state(stack), driver)
        with pytest.raises(
            EngineError, match=r"dev is locked by \S+@\S+ \(process \d+\) since \S+; wait for"
        ):
            stack.up()
        driver.send_signal(signal.SIGTERM)
        said = driver.communicate(timeout=PATIENCE_SECONDS)[1]

    assert driver.returncode == ExitCode.CANCELLED, said
    assert "cancelled; what was done is saved" in said
    assert "one" in names_in_state(stack)
    assert interrupted(stack).refusal("dev") is None
    project.declare(project.config_map("one", a="1"), project.deployment("app", IMAGE))
    assert_converges(project, stack, "app", "one")


def test_row_9_of_those_who_race_for_the_lock_never_two_hold_it(
    project: PulumiProject, updated: Stack
) -> None:
    files, inside, seen = files_of(updated), threading.Semaphore(0), []

    def race(_: int) -> bool:
        try:
            with stack_lock(files):
                inside.release()
                seen.append(inside._value)
                time.sleep(0.01)
                inside.acquire()
                return True
        except EngineError:
            return False

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(race, range(40)))
    project.declare(project.config_map("one", a="2"))
    with started(updated) as first, started(updated) as second:
        said = [first.end(), second.end()]

    assert set(seen) <= {1}
    codes = [first.process.returncode, second.process.returncode]
    assert all(
        code == 0 or "is currently locked" in text for code, text in zip(codes, said, strict=True)
    )
    assert_converges(project, updated, "one")


def test_row_10_a_lock_of_a_dead_process_is_distinguished_from_one_of_another_machine(
    project: PulumiProject, updated: Stack
) -> None:
    locks = files_of(updated).locks_folder
    locks.mkdir(parents=True, exist_ok=True)
    (locks / "a.json").write_text(json.dumps(DEAD | {"hostname": "ci-7", "pidNamespace": ""}))
    with pytest.raises(EngineError, match=r"is locked by ann@ci-7 .*; wait .* seen on ci-7"):
        list(recover_interrupted(updated, interrupted(updated)))
    assert (locks / "a.json").exists()
    alive = DEAD | {"pid": os.getpid()}
    (locks / "a.json").write_text(json.dumps(alive))
    with pytest.raises(EngineError, match="since then; wait for that run to end"):
        list(recover_interrupted(updated, interrupted(updated)))

    (locks / "a.json").write_text(json.dumps(DEAD))

    assert "removed the lock of ann@" in recovered(updated)[0]
    assert_converges(project, updated, "one")


def test_row_11_runs_that_went_on_side_by_side_are_noticed(project: PulumiProject) -> None:
    project.declare(project.config_map("one", a="1"), project.deployment("app", IMAGE, held=True))
    stack = project.stack()

    with started(stack) as first:
        first.wait_for_pending(f"creating Deployment {project.namespace}/app")
        stack.runner.run(["cancel", "--yes", "--stack", "dev"], lambda _: None)
        project.declare(project.config_map("one", a="1"))
        time.sleep(2)  # a history counts whole seconds
        stack.up()
        first.process.send_signal(signal.SIGINT)
        first.end()

    warnings = read_baseline(project.root, "dev").warnings
    assert any(
        "under way at once" in each and "recover -s dev --replace" in each for each in warnings
    )
    project.declare(project.config_map("one", a="1"), project.deployment("app", IMAGE))
    assert_converges(project, stack, "app", "one")
    assert read_baseline(project.root, "dev").warnings == ()


@pytest.mark.parametrize("content", [pytest.param("", id="empty"), pytest.param("[{", id="cut")])
def test_row_12_a_lock_that_cannot_be_read_is_named(updated: Stack, content: str) -> None:
    lock = files_of(updated).locks_folder / "broken.json"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(content)

    refusal = interrupted(updated).refusal("dev")

    assert f"if no run is changing the stack, remove {lock}" in str(refusal)
    with pytest.raises(EngineError, match="does not say who"):
        list(recover_interrupted(updated, interrupted(updated)))
    lock.unlink()
    assert not updated.up().steps
