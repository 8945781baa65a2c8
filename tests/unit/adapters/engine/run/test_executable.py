from pathlib import Path

import pytest
from holdfast.adapters.engine.run import executable
from holdfast.adapters.engine.run.executable import find_pulumi
from holdfast.errors import ToolchainError


def make_pulumi(folder: Path, prints: str, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "pulumi"
    program.write_text(f"#!/bin/sh\n{prints}\n")
    program.chmod(mode)
    return program


@pytest.fixture(autouse=True)
def no_pulumi_but_the_tests_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOLDFAST_PULUMI", raising=False)
    monkeypatch.setenv("HOLDFAST_TOOLCHAIN", str(tmp_path / "built"))
    executable._checked.cache_clear()


def test_takes_the_built_one_when_nothing_is_named(tmp_path: Path) -> None:
    pulumi = make_pulumi(tmp_path / "built", "echo v3.259.0")
    (tmp_path / "built" / "pulumi-resource-kubernetes").touch()

    found = find_pulumi()

    assert (found.path, found.version, found.is_built) == (pulumi, "3.259.0", True)


@pytest.mark.parametrize("word", ["path", "system", "PATH"])
def test_takes_the_one_on_path_on_request(
    word: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_pulumi(tmp_path / "built", "echo v3.259.0")
    mine = make_pulumi(tmp_path / "mine", "echo v3.300.1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'mine'}:/usr/bin:/bin")
    monkeypatch.setenv("HOLDFAST_PULUMI", word)

    found = find_pulumi()

    assert (found.path, found.version, found.is_built) == (mine, "3.300.1", False)


@pytest.mark.parametrize("named", ["mine", "mine/pulumi"])
def test_takes_the_program_or_the_folder_that_is_named(
    named: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = make_pulumi(tmp_path / "mine", "echo v3.227.0")
    monkeypatch.setenv("HOLDFAST_PULUMI", str(tmp_path / named))

    assert find_pulumi().path == mine


@pytest.mark.parametrize(
    ("prints", "says"),
    [
        pytest.param(
            "echo v3.226.9",
            r"3\.227 or newer is needed, .*pulumi is version 3\.226\.9; set HOLDFAST_PULUMI",
            id="old",
        ),
        pytest.param("echo v2.300.0", r"3\.227 or newer is needed", id="old-major"),
        pytest.param("echo", "reports no version", id="unstamped"),
        pytest.param("echo v0.0.0-dev", "reports no version", id="development-build"),
        pytest.param("echo broken >&2; exit 4", r"'version' failed \(broken\)", id="failing"),
        pytest.param("exit 4", r"'version' failed \(exit code 4\)", id="failing-silently"),
    ],
)
def test_refuses_a_pulumi_that_cannot_be_used(
    prints: str, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOLDFAST_PULUMI", str(make_pulumi(tmp_path / "mine", prints)))

    with pytest.raises(ToolchainError, match=says):
        find_pulumi()


def test_says_when_the_named_program_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOLDFAST_PULUMI", str(tmp_path / "nowhere"))

    with pytest.raises(ToolchainError, match=r"nowhere, which does not exist; correct it"):
        find_pulumi()


def test_says_when_the_named_program_is_not_executable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = make_pulumi(tmp_path / "mine", "echo v3.259.0", mode=0o644)
    monkeypatch.setenv("HOLDFAST_PULUMI", str(program))
    monkeypatch.setattr("os.access", lambda *_: False)  # root may execute nothing less readily

    with pytest.raises(ToolchainError, match=r"not executable; run 'chmod \+x"):
        find_pulumi()


def test_says_when_there_is_none_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOLDFAST_PULUMI", "path")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ToolchainError, match="there is none; install Pulumi"):
        find_pulumi()


def test_asks_for_the_version_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    counting = f"echo asked >> {tmp_path / 'asked'}; echo v3.259.0"
    monkeypatch.setenv("HOLDFAST_PULUMI", str(make_pulumi(tmp_path / "mine", counting)))

    assert find_pulumi() == find_pulumi()
    assert (tmp_path / "asked").read_text() == "asked\n"
