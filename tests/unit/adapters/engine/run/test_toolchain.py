from pathlib import Path

import pytest
from holdfast.adapters.engine.run import toolchain
from holdfast.errors import ToolchainError


def make_program(folder: Path, name: str, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(mode)
    return program


@pytest.fixture(autouse=True)
def nothing_but_the_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOLDFAST_TOOLCHAIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(toolchain, "built_folder", lambda: tmp_path / "built")


def test_takes_the_folder_named_by_the_environment_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_program(tmp_path / "built", "etcd")
    mine = make_program(tmp_path / "mine", "etcd")
    monkeypatch.setenv("HOLDFAST_TOOLCHAIN", str(tmp_path / "mine"))

    assert toolchain.find_program("etcd") == mine


def test_never_replaces_a_program_that_the_named_folder_lacks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_program(tmp_path / "built", "etcd")
    monkeypatch.setenv("HOLDFAST_TOOLCHAIN", str(tmp_path / "mine"))

    with pytest.raises(ToolchainError, match=r"etcd was not found.*unset HOLDFAST_TOOLCHAIN"):
        toolchain.find_program("etcd")


def test_prefers_the_built_toolchain_to_path(tmp_path: Path) -> None:
    built = make_program(tmp_path / "built", "kubectl")
    make_program(tmp_path / "path", "kubectl")

    assert toolchain.find_program("kubectl") == built


def test_falls_back_to_path(tmp_path: Path) -> None:
    on_path = make_program(tmp_path / "path", "kubectl")

    assert toolchain.find_program("kubectl") == on_path


@pytest.mark.parametrize(
    "mode", [pytest.param(None, id="absent"), pytest.param(0o644, id="not-executable")]
)
def test_says_how_to_get_a_missing_program(tmp_path: Path, mode: int | None) -> None:
    if mode is not None:
        make_program(tmp_path / "built", "pulumi", mode)

    with pytest.raises(ToolchainError, match=r"pulumi was not found.*run 'make toolchain'"):
        toolchain.find_program("pulumi")


@pytest.mark.parametrize("finished", [True, False])
def test_uses_a_built_folder_only_when_the_build_is_finished(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, finished: bool
) -> None:
    monkeypatch.undo()
    script = tmp_path / "clone" / "toolchain" / "build.py"
    script.parent.mkdir(parents=True)
    script.write_text(f"print({str(tmp_path / 'cache')!r})\n")
    (tmp_path / "cache").mkdir()
    if finished:
        (tmp_path / "cache" / "complete").touch()
    inside = tmp_path / "clone" / "infra" / "holdfast" / "toolchain.py"
    monkeypatch.setattr(toolchain, "__file__", str(inside))

    assert toolchain.built_folder() == (tmp_path / "cache" if finished else None)


def test_reports_a_build_script_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    script = tmp_path / "toolchain" / "build.py"
    script.parent.mkdir()
    script.write_text("raise SystemExit(1)\n")
    monkeypatch.setattr(toolchain, "__file__", str(tmp_path / "module.py"))

    with pytest.raises(ToolchainError, match="did not name the toolchain's folder"):
        toolchain.built_folder()


def test_definitions_lie_in_the_folder_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "keda").mkdir()
    for name in ("b.keda.sh.yaml", "a.keda.sh.yaml", "README.md"):
        (tmp_path / "keda" / name).touch()
    monkeypatch.setenv("HOLDFAST_DEFINITIONS", str(tmp_path))

    found = toolchain.find_definitions("keda")

    assert [path.name for path in found] == ["a.keda.sh.yaml", "b.keda.sh.yaml"]
    with pytest.raises(ToolchainError, match=r"no definitions of kueue.*HOLDFAST_DEFINITIONS"):
        toolchain.find_definitions("kueue")


def test_says_how_to_get_missing_definitions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HOLDFAST_DEFINITIONS", raising=False)
    script = tmp_path / "toolchain" / "definitions.py"
    script.parent.mkdir()
    script.write_text(f"print({str(tmp_path / 'cache')!r})\n")
    monkeypatch.setattr(toolchain, "__file__", str(tmp_path / "module.py"))

    with pytest.raises(ToolchainError, match=r"no definitions of keda.*run 'make definitions'"):
        toolchain.find_definitions("keda")
