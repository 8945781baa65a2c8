import errno
from pathlib import Path

import pytest
from holdfast.errors import SandboxError
from holdfast.sandbox import control_plane
from holdfast.sandbox.control_plane import SandboxOutcome, down, up
from holdfast.sandbox.paths import SandboxPaths, sandbox_paths
from holdfast.sandbox.record import Ports, SandboxRecord, read_record, write_record


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SandboxPaths:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path))
    monkeypatch.setattr(control_plane, "find_program", lambda name: Path("/nonexistent") / name)
    return sandbox_paths()


def make(place: SandboxPaths) -> None:
    place.directory.mkdir(parents=True)
    write_record(place, SandboxRecord("t", Ports(1, 2, 3)))


def report(line: str) -> None:
    """Nobody reads the progress of these tests."""


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("number", "says"),
    [
        pytest.param(errno.ENOSPC, "No space left on device", id="disk-full"),
        pytest.param(errno.EROFS, "Read-only file system", id="read-only"),
    ],
)
def test_a_file_that_cannot_be_written_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, place: SandboxPaths, number: int, says: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, says, "/state/sandbox.json")

    monkeypatch.setattr(control_plane, "write_record", fail)

    with pytest.raises(SandboxError, match=f"/state/sandbox.json cannot be written: {says}; free"):
        up(place, report)


def test_a_failed_first_start_keeps_its_logs_for_a_look(place: SandboxPaths) -> None:
    with pytest.raises(SandboxError, match="etcd could not be started"):
        up(place, report)

    assert read_record(place) is not None
    assert place.log("etcd").exists()


@pytest.mark.parametrize("moment", ["make_private_directory", "write_record", "start_programs"])
def test_an_interrupted_first_start_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, place: SandboxPaths, moment: str
) -> None:
    monkeypatch.setattr(control_plane, moment, interrupted)

    with pytest.raises(KeyboardInterrupt):
        up(place, report)

    assert not place.directory.exists()


def test_an_interrupted_restart_keeps_the_data(
    monkeypatch: pytest.MonkeyPatch, place: SandboxPaths
) -> None:
    make(place)
    (place.directory / "etcd").mkdir()
    monkeypatch.setattr(control_plane, "start_programs", interrupted)

    with pytest.raises(KeyboardInterrupt):
        up(place, report)

    assert (place.directory / "etcd").exists()


def test_a_program_that_is_missing_is_found_before_anything_is_stopped(
    monkeypatch: pytest.MonkeyPatch, place: SandboxPaths
) -> None:
    make(place)

    def missing(name: str) -> Path:
        raise SandboxError(f"{name} is missing")

    def stop(*_: object, **__: object) -> int:
        raise AssertionError

    monkeypatch.setattr(control_plane, "find_program", missing)
    monkeypatch.setattr(control_plane, "stop_programs", stop)

    with pytest.raises(SandboxError, match="etcd is missing"):
        up(place, report)


def test_down_removes_the_folder_and_what_an_earlier_removal_left(place: SandboxPaths) -> None:
    make(place)
    leftover = place.directory.with_name(".default.removed")
    (leftover / "etcd").mkdir(parents=True)

    assert down(place, report, keeps_data=False) is SandboxOutcome.REMOVED

    assert not place.directory.exists()
    assert not leftover.exists()


def test_down_never_removes_what_it_did_not_make(place: SandboxPaths) -> None:
    place.directory.mkdir(parents=True)
    (place.directory / "thesis.tex").touch()

    with pytest.raises(SandboxError, match="is no sandbox"):
        down(place, report, keeps_data=False)

    assert (place.directory / "thesis.tex").exists()
