import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from holdfast.cli.groups import sandbox as command
from holdfast.cli.main import run
from holdfast.report.text.sandbox_text import status_json, status_text
from holdfast.sandbox.health import ProgramStatus, SandboxStatus, State
from holdfast.sandbox.paths import SandboxPaths, sandbox_paths
from holdfast.sandbox.process import ProcessIdentity
from holdfast.sandbox.record import Ports, SandboxRecord, write_record


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("verb", sorted(command.verbs))
def test_help_teaches_with_examples_that_keep_their_lines(verb: str) -> None:
    shown = CliRunner().invoke(command, [verb, "--help"]).output

    assert "\\b" not in shown
    assert f"\n    holdfast sandbox {verb}" in shown or f"$(holdfast sandbox {verb})" in shown


def test_an_absent_sandbox_is_not_fine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sandbox", "status", "-o", "json"]) == 1

    said = capsys.readouterr()
    assert json.loads(said.out)["state"] == "absent"
    assert "'holdfast sandbox up' makes one" in said.err


@pytest.mark.parametrize("verb", ["kubeconfig", "logs"])
def test_says_how_to_get_a_sandbox(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sandbox", verb, "--name", "team-a"]) == 2

    assert "run 'holdfast sandbox up --name team-a'" in capsys.readouterr().err


def test_refuses_a_bad_name_before_anything_else(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sandbox", "up", "--name", "../x"]) == 2

    assert "RFC 1123" in capsys.readouterr().err
    assert list(state.iterdir()) == []


@pytest.mark.parametrize("name", ["kedda", "vault-injector", ""])
def test_refuses_definitions_of_a_controller_that_has_none(
    name: str, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sandbox", "up", "--with", f"keda,{name}"]) == 2

    said = capsys.readouterr().err
    assert f"--with: {name!r} has no definitions; take some of agent-sandbox" in said
    assert list(state.iterdir()) == []


def test_down_without_a_sandbox_is_no_error(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sandbox", "down"]) == 0

    assert "there was none" in capsys.readouterr().err
    assert list(state.iterdir()) == []


def test_a_sandbox_of_before_a_restart_of_the_machine_is_stopped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = sandbox_paths()
    place.directory.mkdir(parents=True)
    gone = ProcessIdentity(1, 1, "/bin/etcd", "another-boot")
    write_record(place, SandboxRecord("t", Ports(1, 2, 3), {"etcd": gone}))

    assert run(["sandbox", "status"]) == 1

    said = capsys.readouterr()
    assert "sandbox default: stopped" in said.out
    assert "starts it again with its data" in said.err


def test_a_missing_toolchain_is_reported_before_anything_is_written(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_TOOLCHAIN", str(state / "nowhere"))

    assert run(["sandbox", "up"]) == 1

    assert "etcd was not found in HOLDFAST_TOOLCHAIN" in capsys.readouterr().err
    assert not (state / "sandboxes" / "default").exists()


def test_json_and_text_tell_the_same(tmp_path: Path) -> None:
    programs = (
        ProgramStatus("etcd", 12, is_running=True, resident_bytes=50_000_000),
        ProgramStatus("kwok", 0, is_running=False, resident_bytes=0),
    )
    status = SandboxStatus(
        SandboxPaths("a", tmp_path),
        State.DEGRADED,
        "kwok has ended",
        "https://127.0.0.1:1",
        programs,
    )

    document = json.loads(status_json(status))
    assert document["programs"][1] == {
        "name": "kwok",
        "pid": 0,
        "running": False,
        "residentBytes": 0,
    }
    assert (document["healthy"], document["residentBytes"]) == (False, 50_000_000)
    text = click.unstyle(status_text(status))
    assert "sandbox a: degraded" in text
    assert "etcd     12   50 MB   running" in text
    assert "kwok     -    0 MB    ended" in text
