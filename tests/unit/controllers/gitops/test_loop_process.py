"""The process of a loop: its place on a machine, its secret, and whose fault an error is."""

from pathlib import Path

import pytest
from holdfast.controllers.gitops.process import LoopRequest, only_one_loop, run_loop
from holdfast.controllers.runtime.log import Logger, Output
from holdfast.errors import HoldfastError

LOG = Logger(Output().write, as_json=False)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(HoldfastError, match=r"/file/loop cannot be used \("),
        only_one_loop(tmp_path / "file" / "loop", LOG),
    ):
        pass


def test_an_error_of_the_loop_itself_is_not_blamed_on_the_folder(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), only_one_loop(tmp_path / "loop", LOG):
        raise BrokenPipeError


def test_the_secret_of_hooks_is_not_shown() -> None:
    assert "s3cret" not in repr(LoopRequest("dev", "/srv/fleet.git", hook_secret="s3cret"))


def test_a_repository_that_cannot_be_read_ends_the_loop_and_frees_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    request = LoopRequest("org/fleet/dev", str(tmp_path / "absent"))
    for _ in range(2):
        with pytest.raises(HoldfastError, match=r"absent cannot be fetched"):
            run_loop(request, LOG, once=True)
    assert [each.name for each in (tmp_path / "state" / "reconcile").iterdir()] == ["dev"]
