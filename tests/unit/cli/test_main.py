"""The front door: every verb is there and teaches, every failure has its exit code."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from holdfast import errors
from holdfast.cli.drift.detect import SECTIONS
from holdfast.cli.lazy_group import LazyGroup
from holdfast.cli.main import run
from holdfast.cli.verbs import MOVED, VERBS, all_verbs
from holdfast.errors import (
    ExitCode,
    HoldfastError,
    InputError,
    InvalidFilesError,
    LoginError,
    ManifestError,
    RenderError,
    SourceLocation,
)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_teaches_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"holdfast {verb}" in text
    assert "\\b" not in text, "a raw docstring hides click's mark: examples lose their lines"


@pytest.mark.parametrize("words", [words for words, _ in all_verbs()], ids=" ".join)
def test_the_table_names_every_command_as_the_command_names_itself(words: tuple[str, ...]) -> None:
    verb = dict(all_verbs())[words]
    command = verb.load()
    assert verb.text
    assert command.name in {words[-1], "command"}
    if verb.below:
        assert isinstance(command, LazyGroup)
        assert command.verbs is verb.below


def test_help_names_every_verb_without_loading_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    for verb in VERBS:
        assert f"\n  {verb}" in text


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(HoldfastError("x"), ExitCode.ERROR, id="error"),
        pytest.param(InputError("x"), ExitCode.BAD_INPUT, id="input"),
        pytest.param(RenderError("x"), ExitCode.BAD_INPUT, id="render"),
        pytest.param(LoginError("x"), ExitCode.AUTHENTICATION, id="login"),
        pytest.param(
            HoldfastError("x", exit_code=ExitCode.NO_STACK), ExitCode.NO_STACK, id="its-own"
        ),
        pytest.param(KeyboardInterrupt(), ExitCode.CANCELLED, id="interrupted"),
        pytest.param(click.UsageError("x"), ExitCode.BAD_INPUT, id="usage"),
        pytest.param(OSError(28, "No space left on device"), ExitCode.ERROR, id="disk full"),
    ],
)
def test_a_failure_ends_in_its_exit_code_and_never_in_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: ExitCode,
) -> None:
    @click.command()
    def fails() -> None:
        raise error

    monkeypatch.setattr(LazyGroup, "get_command", lambda *_: fails)
    assert run(["render"]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_faults_of_files_begin_their_lines_with_their_places(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = SourceLocation("agents/a.yaml", 3, 5)
    faults = [ManifestError(place, "spec.x", expected="expected a number", found="'y'")]

    @click.command()
    def fails() -> None:
        raise InvalidFilesError(faults)

    monkeypatch.setattr(LazyGroup, "get_command", lambda *_: fails)
    assert run(["render"]) == ExitCode.BAD_INPUT
    assert capsys.readouterr().err == (
        "agents/a.yaml:3:5: spec.x: expected a number, got 'y'\nerror: 1 error in 1 file\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["drfit"], "no such command 'drfit'; did you mean \"drift\"?", id="verb"),
        pytest.param(
            ["drift", "rever"],
            "no such command 'rever'; did you mean \"revert\"?",
            id="below a verb that runs by itself",
        ),
        pytest.param(
            ["drift", "-s", "dev", "revert"],
            "options of revert follow it: `holdfast drift revert`",
            id="options before the verb below",
        ),
        pytest.param(["operator", "instal"], 'did you mean "install"?', id="part of operator"),
        pytest.param(["sandbox", "satus"], 'did you mean "status"?', id="part of sandbox"),
        pytest.param(["xyzzy"], "--help lists every command", id="nothing near"),
    ],
)
def test_a_misspelt_verb_is_reported_the_one_that_may_be_meant(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run(arguments) == ExitCode.BAD_INPUT
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("old", "new"), MOVED.items(), ids=MOVED)
def test_an_earlier_spelling_of_a_verb_names_the_one_of_now(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(old.split()) == ExitCode.BAD_INPUT
    assert f"it is `holdfast {new}` now" in capsys.readouterr().err
    first, *below = new.split()
    assert first in VERBS
    assert not below or not VERBS[first].below or below[0] in VERBS[first].below


@pytest.mark.parametrize("verb", ["agent", "ci", "policy", "sandbox", "mcp", "gitops"])
def test_the_help_lines_of_a_group_are_whole(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == 0
    listed = capsys.readouterr().out.split("Commands:\n", 1)[1]
    assert "..." not in listed


def test_the_options_of_drift_are_listed_by_what_they_are_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["drift", "--help"]) == 0
    text = capsys.readouterr().out
    headings = [line[:-1] for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == [*SECTIONS.values(), "Help", "Commands"]
    assert text.count("--help ") == 1


def test_a_reader_that_has_gone_leaves_an_exit_code_that_is_not_in_sync(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast", "policy", "list"]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as closed:
        ended = subprocess.run(
            command, stdout=closed, stderr=subprocess.PIPE, check=False, cwd=tmp_path
        )
    assert (ended.returncode, ended.stderr) == (ExitCode.ERROR, b"")


def test_exit_codes_are_those_of_pulumi() -> None:
    assert {each.name: each.value for each in ExitCode} == {
        "OK": 0,
        "ERROR": 1,
        "BAD_INPUT": 2,
        "AUTHENTICATION": 3,
        "RESOURCE": 4,
        "POLICY": 5,
        "NO_STACK": 6,
        "DRIFT": 7,
        "CANCELLED": 8,
        "TIMEOUT": 9,
    }


def test_every_error_of_ours_is_in_one_tree() -> None:
    for name, value in vars(errors).items():
        if name.endswith("Error"):
            assert issubclass(value, HoldfastError), name
