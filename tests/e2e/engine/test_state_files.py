"""Rows 13 to 21 and 40 of the fault matrix: state files, their disk, and a state that is lost.

Row 19, what is pending at a scan, is shown with row 2; row 24, a wrong passphrase, in
`test_failed_runs.py`. Rows 22 and 23 are of states that are not files.
"""

import gzip
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.baseline import read_baseline
from holdfast.adapters.engine.state.interrupted import interrupted
from holdfast.adapters.engine.state.rebuilding import rebuild
from holdfast.adapters.engine.state.state_backup import backed_up_state
from holdfast.errors import EngineError, ExitCode

from tests.e2e.engine.runs import PATIENCE_SECONDS, driven
from tests.e2e.engine.states import (
    assert_converges,
    edited,
    files_of,
    names_in_state,
    recovered,
    state_file,
)
from tests.e2e.live_sandbox import Kubectl
from tests.e2e.pulumi_project import PulumiProject

pytestmark = pytest.mark.e2e


def test_row_13_a_backend_that_cannot_be_written_is_said_before_the_cluster_is_touched(
    project: PulumiProject, updated: Stack, kubectl: Kubectl
) -> None:
    locks = files_of(updated).locks_folder.parent
    locks.rename(locks.with_name("away"))
    locks.write_text("")  # rights do not bind root: a file in the folder's place does
    project.declare(project.config_map("one", a="2"))

    with pytest.raises(EngineError, match=r"state of stack dev cannot be written: \S+: not a dir"):
        updated.up()

    found = kubectl.get("configmap", "one", "-n", project.namespace)
    assert found["data"] == {"a": "1"}
    locks.unlink()
    assert_converges(project, updated, "one")


@pytest.mark.parametrize("kept", [pytest.param(0, id="empty"), pytest.param(0.5, id="cut-off")])
def test_row_14_a_state_that_is_cut_off_is_refused(
    project: PulumiProject, updated: Stack, kept: float
) -> None:
    path = state_file(updated)
    good = path.read_bytes()
    path.write_bytes(good[: int(len(good) * kept)])

    with pytest.raises(EngineError, match=r"cannot be read, .*'holdfast recover -s dev'"):
        updated.up()
    with pytest.raises(EngineError, match=f"{path} cannot be read, it may be cut off"):
        read_baseline(project.root, "dev")

    copy = next(files_of(updated).copies())
    path.write_bytes(copy.read_bytes())
    assert_converges(project, updated, "one")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda found: found.append(found[-1]), id="the-same-twice"),
        pytest.param(lambda found: found[-1].update(parent=f"{found[0]['urn']}x"), id="no-parent"),
    ],
)
def test_row_15_a_state_without_integrity_is_refused_and_still_scanned(
    project: PulumiProject, updated: Stack, damage: Callable[[list[dict[str, Any]]], object]
) -> None:
    edited(state_file(updated), lambda all_: damage(all_["checkpoint"]["latest"]["resources"]))

    with pytest.raises(EngineError, match="state of stack dev is damaged; run 'pulumi state rep"):
        updated.up()

    assert [each.reference.name for each in read_baseline(project.root, "dev").objects] == ["one"]
    arguments = ["state", "repair", "--yes", "--stack", "dev"]
    if updated.runner.run(arguments, lambda _: None).exit_code:
        # The engine cannot recover what is there twice: the state is made anew.
        with backed_up_state(files_of(updated)):
            updated.init_if_absent()
            rebuild(updated)
    assert_converges(project, updated, "one")


def test_row_16_a_state_of_a_newer_engine_is_refused(
    project: PulumiProject, updated: Stack
) -> None:
    edited(state_file(updated), lambda document: document.update(version=99))

    with pytest.raises(EngineError, match="format 99, which a newer Pulumi has written; update P"):
        updated.up()
    with pytest.raises(EngineError, match="has format 99, newer than"):
        read_baseline(project.root, "dev")

    edited(state_file(updated), lambda document: document.update(version=3))
    assert_converges(project, updated, "one")


def test_row_17_of_two_state_files_the_newer_counts_and_the_other_is_named(
    project: PulumiProject, updated: Stack
) -> None:
    used = state_file(updated)
    other = used.with_name("dev.json")
    other.write_bytes(gzip.decompress(used.read_bytes()))
    os.utime(other, (1, 1))

    said = read_baseline(project.root, "dev").warnings

    assert f"{other} is older than {used} and not used; delete it" in said
    assert not updated.up().steps
    assert names_in_state(updated) == ["one"]


def test_row_18_a_state_that_is_replaced_while_it_is_read_is_the_old_or_the_new_one(
    project: PulumiProject, updated: Stack
) -> None:
    path, is_over = state_file(updated), threading.Event()
    good = path.read_bytes()

    def replace_again_and_again() -> None:
        while not is_over.is_set():
            new = path.with_suffix(".new")
            new.write_bytes(good)
            new.replace(path)

    writer = threading.Thread(target=replace_again_and_again)
    writer.start()
    try:
        read = [read_baseline(project.root, "dev") for _ in range(100)]
    finally:
        is_over.set()
        writer.join()
    assert {len(each.objects) for each in read} == {1}


def test_row_20_a_disk_that_is_full_is_said_and_the_last_good_state_is_there(
    project: PulumiProject, updated: Stack
) -> None:
    # A limit on the size of a file: what a full disk says, without filling one.
    large = project.config_map("large", a=os.urandom(50_000).hex())
    project.declare(project.config_map("one", a="1"), large)
    with driven(project, "30000") as driver:
        said = driver.communicate(timeout=PATIENCE_SECONDS * 2)[1]

    assert driver.returncode == ExitCode.ERROR
    assert "the state of stack dev cannot be written: " in said
    assert "file too large" in said
    path, copy = state_file(updated), next(files_of(updated).copies())
    path.write_bytes(copy.read_bytes())
    if interrupted(updated).refusal("dev"):
        recovered(updated)
    assert_converges(project, updated, "large", "one")


def test_row_21_a_history_that_cannot_be_written_does_not_undo_the_update(
    project: PulumiProject, updated: Stack, kubectl: Kubectl
) -> None:
    records = files_of(updated).records_folder
    records.rename(records.with_name("away"))
    records.write_text("")
    project.declare(project.config_map("one", a="2"))

    with pytest.raises(RunFailedError, match="all of it was done and is saved, but the history"):
        updated.up()

    found = kubectl.get("configmap", "one", "-n", project.namespace)
    assert found["data"] == {"a": "2"}
    records.unlink()
    assert_converges(project, updated, "one")


def test_row_40_objects_of_a_manager_that_only_the_lost_state_knew_go_on_under_it(
    project: PulumiProject, kubectl: Kubectl
) -> None:
    one = project.config_map("one", a="1", b="1")
    del one["metadata"]["annotations"]
    project.declare(one)
    stack = project.stack()
    stack.up()

    with backed_up_state(files_of(stack)):
        stack.init_if_absent()
        rebuild(stack)
    one["data"] = {"a": "2"}
    project.declare(one)

    assert_converges(project, stack, "one")
    found = kubectl.get("configmap", "one", "-n", project.namespace, "--show-managed-fields")
    assert found["data"] == {"a": "2"}
    assert len(found["metadata"]["managedFields"]) == 1
