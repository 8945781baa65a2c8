"""What a start needs of the machine."""

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import astuple
from itertools import count
from pathlib import Path

import pytest
from holdfast.errors import SandboxError
from holdfast.sandbox import requirements
from holdfast.sandbox.paths import LOOPBACK, SandboxPaths
from holdfast.sandbox.record import Ports


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on, outside those of outgoing connections."""
    with socket.socket() as listening:
        for number in count(30_000):
            try:
                listening.bind((LOOPBACK, number))
            except OSError:
                continue
            listening.listen()
            yield number
            return


def test_ports_differ_and_are_none_of_those_for_outgoing_connections() -> None:
    chosen = astuple(requirements.choose_ports())

    assert len(set(chosen)) == 3
    assert all(20_000 <= number < 30_000 for number in chosen)


def test_a_port_that_is_taken_is_not_chosen(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "_CHOSEN_FROM", [taken])

    assert taken not in astuple(requirements.choose_ports())
    assert requirements.busy_ports(Ports(taken, *astuple(requirements.choose_ports())[1:])) == (
        taken,
    )


MEBIBYTE = 1024**2


@pytest.fixture
def place(tmp_path: Path) -> SandboxPaths:
    return SandboxPaths("a", tmp_path / "sandboxes" / "a")


def test_makes_a_folder_that_only_its_owner_may_enter(place: SandboxPaths) -> None:
    requirements.prepare_folder(place)

    assert place.directory.parent.stat().st_mode & 0o777 == 0o700


def test_refuses_a_state_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = SandboxPaths("a", tmp_path / "file" / "sandboxes" / "a")

    with pytest.raises(SandboxError, match=r"cannot be written: Not a directory; set HOLDFAST_S"):
        requirements.prepare_folder(place)


def test_refuses_another_users_sandbox(
    monkeypatch: pytest.MonkeyPatch, place: SandboxPaths
) -> None:
    requirements.prepare_folder(place)
    monkeypatch.setattr(os, "geteuid", lambda: 4321)

    with pytest.raises(SandboxError, match=r"belongs to user \d+, this command runs as 4321"):
        requirements.prepare_folder(place)


def test_refuses_a_folder_that_is_no_sandbox(place: SandboxPaths) -> None:
    place.directory.mkdir(parents=True)
    requirements.prepare_folder(place)
    (place.directory / "thesis.tex").touch()

    with pytest.raises(SandboxError, match="exists and is no sandbox; move it away"):
        requirements.prepare_folder(place)


@pytest.mark.parametrize(
    ("machine", "limit", "used", "available"),
    [
        pytest.param("MemAvailable:  1024 kB\n", None, None, MEBIBYTE, id="no-container"),
        pytest.param("MemAvailable:  1024 kB\n", "max", "5", MEBIBYTE, id="container-no-limit"),
        pytest.param("MemAvailable:  1024 kB\n", "7000", "5000", 2000, id="tight-container"),
        pytest.param("MemAvailable:  1 kB\n", "7000", "5000", 1024, id="tight-machine"),
        pytest.param("MemTotal:  1 kB\n", None, None, None, id="unknown"),
    ],
)
def test_knows_the_memory_left_to_it(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    machine: str,
    limit: str | None,
    used: str | None,
    available: int | None,
) -> None:
    texts = {"_MEMORY_FACTS": machine, "_MEMORY_LIMIT": limit, "_MEMORY_USED": used}
    for name, text in texts.items():
        if text is not None:
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(requirements, name, tmp_path / name)

    assert requirements.available_memory_bytes() == available


@pytest.mark.parametrize(
    ("memory", "disk", "says"),
    [
        pytest.param(100 * MEBIBYTE, 9**12, "100 MiB of memory available", id="little-memory"),
        pytest.param(9**12, 30 * MEBIBYTE, "30 MiB free at", id="little-disk"),
    ],
)
def test_refuses_to_start_without_room(
    monkeypatch: pytest.MonkeyPatch, place: SandboxPaths, memory: int, disk: int, says: str
) -> None:
    requirements.prepare_folder(place)
    monkeypatch.setattr(requirements, "available_memory_bytes", lambda: memory)
    monkeypatch.setattr(requirements, "free_disk_bytes", lambda _: disk)

    with pytest.raises(SandboxError, match=says):
        requirements.require_resources(place)


def test_starts_when_the_memory_is_unknown(
    monkeypatch: pytest.MonkeyPatch, place: SandboxPaths
) -> None:
    requirements.prepare_folder(place)
    monkeypatch.setattr(requirements, "available_memory_bytes", lambda: None)

    requirements.require_resources(place)


def test_refuses_other_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(SandboxError, match="runs on Linux only, this is darwin"):
        requirements.require_linux()
