"""Questions are asked where a person can read and answer them."""

import sys

import click
import pytest
from holdfast.cli.options.confirm import confirm_on_terminal


def on_terminals(monkeypatch: pytest.MonkeyPatch, *, stdin: bool, stderr: bool) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: stdin, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: stderr, raising=False)


@pytest.mark.parametrize(("stdin", "stderr"), [(False, False), (True, False), (False, True)])
def test_without_a_terminal_on_both_sides_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stdin: bool,
    stderr: bool,
) -> None:
    on_terminals(monkeypatch, stdin=stdin, stderr=stderr)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: pytest.fail("it was asked"))
    assert confirm_on_terminal("Update?", ["1 create"]) is False
    assert capsys.readouterr().err == ""


def test_on_a_terminal_no_ends_it_and_yes_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_terminals(monkeypatch, stdin=True, stderr=True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: False)
    with pytest.raises(click.Abort):
        confirm_on_terminal("Update?", ["1 create"])
    assert capsys.readouterr().err == "1 create\n"
    monkeypatch.setattr(click, "confirm", lambda *_, **__: True)
    assert confirm_on_terminal("Update?", ["1 create"]) is True
