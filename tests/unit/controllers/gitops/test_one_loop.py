"""The place of the one loop of a stack on a machine: whose fault an error is."""

from pathlib import Path

import pytest
from holdfast.controllers.gitops.process import only_one_loop
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
