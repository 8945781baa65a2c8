"""What people tell a running loop."""

from pathlib import Path

import pytest
from holdfast.adapters.journal.controls import (
    LoopControls,
    controls_file,
    read_controls,
    write_controls,
)
from holdfast.errors import HoldfastError


def test_what_was_said_last_is_read_back(tmp_path: Path) -> None:
    file = controls_file(tmp_path, "project", "organization/project/dev")
    assert read_controls(file) == LoopControls()
    said = LoopControls("ann", "2026-11-22T00:00:00Z", "by hand", 5.0)
    write_controls(file, said)
    assert read_controls(file) == said
    assert [each.name for each in file.parent.iterdir()] == ["controls.json"]


def test_a_file_that_cannot_be_read_does_not_let_the_loop_go_on(tmp_path: Path) -> None:
    file = tmp_path / "dev.controls.json"
    file.write_text("{")
    with pytest.raises(HoldfastError, match="remove it to let the loop go on"):
        read_controls(file)
