"""Copies of a state: private, whole, not too many."""

import json
import os
from pathlib import Path

import pytest
from holdfast.adapters.engine.state.state_backup import MOST_KEPT, KeptStates
from holdfast.errors import EngineError

STATE = json.dumps({"version": 3, "deployment": {"resources": []}}).encode()


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptStates:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    return KeptStates.of("p", "organization/p/dev")


def test_a_copy_is_for_its_owner_alone_and_is_found_again(states: KeptStates) -> None:
    path = states.keep("one", STATE)

    assert path.read_bytes() == STATE
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.name == "dev"
    assert path.parent.stat().st_mode & 0o077 == 0
    assert states.deployment("one") is not None


def test_the_newest_are_kept(states: KeptStates) -> None:
    for number in range(MOST_KEPT + 3):
        os.utime(states.keep(str(number), STATE), ns=(number, number))

    names = [path.stem for path in states.newest_first()]

    # The time of the last one is set after the oldest have gone.
    assert names[:2] == [str(MOST_KEPT + 2), str(MOST_KEPT + 1)]
    assert len(names) == MOST_KEPT


@pytest.mark.parametrize("text", [None, b"", b'{"version": 99}'], ids=["none", "torn", "newer"])
def test_what_is_not_there_or_cannot_be_read_is_no_copy(
    states: KeptStates, text: bytes | None
) -> None:
    if text is not None:
        states.keep("one", text)

    assert states.deployment("one") is None


def test_a_folder_that_cannot_be_written_is_named(states: KeptStates) -> None:
    states.folder.parent.mkdir(parents=True)
    states.folder.write_text("in the way")

    with pytest.raises(EngineError, match=r"kept in .*dev .*; free some space, or set HOLDFAST"):
        states.keep("one", STATE)
