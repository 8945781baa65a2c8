"""The front door: every verb is there and teaches, every failure has its exit code."""

import importlib

import click
import pytest
from holdfast import errors
from holdfast.cli import main
from holdfast.cli.main import VERBS, run
from holdfast.errors import ExitCode, HoldfastError, InputError, LoginError, RenderError


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_teaches_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"holdfast {verb}" in text
    assert "\\b" not in text, "a raw docstring hides click's mark: examples lose their lines"
    module = importlib.import_module(f"holdfast.cli.{main.module_of(verb)}")
    assert isinstance(module.command, click.Command)


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

    monkeypatch.setattr(main.VerbGroup, "get_command", lambda *_: fails)
    assert run(["render"]) == code
    assert "Traceback" not in capsys.readouterr().err


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
