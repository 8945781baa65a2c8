"""What a stranger wrote moves no cursor, hides nothing and forges no line of a terminal."""

import io
import sys

import pytest
from holdfast.cli import main
from holdfast.cli.terminal import guarded_terminal
from holdfast.errors import HoldfastError

HOSTILE = [
    pytest.param("\x1b]8;;https://evil.example\x07click\x1b]8;;\x07", id="OSC link"),
    pytest.param("\x1b]52;c;cm0gLXJmIH4=\x07", id="OSC clipboard"),
    pytest.param("\x1b[2J\x1b[1;1H", id="clear the screen"),
    pytest.param("\x1b[8m hidden", id="conceal"),
    pytest.param("\x1b[38;5;0m dark", id="a colour that is not ours"),
    pytest.param("\x9b2J", id="C1 control sequence"),
    pytest.param("\x9d8;;x\x9c", id="C1 operating system command"),
    pytest.param("ok\rerror", id="carriage return"),
    pytest.param("a\bb", id="backspace"),
    pytest.param("\a", id="bell"),
    pytest.param("\u202etxt.exe", id="right to left"),
    pytest.param("\u2066x\u2069", id="isolate"),
    pytest.param("a\u200bb", id="of no width"),
    pytest.param("a\u2028b", id="line separator"),
    pytest.param("\U000e0041", id="tag"),
    pytest.param("\ud800", id="half a character"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_an_error_shows_what_a_stranger_wrote_as_escapes(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: list[str]) -> object:
        raise HoldfastError(f"the server says {text}", remedy=text)

    monkeypatch.setattr(main, "_called", fail)
    assert main.run([]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("error: the server says ")
    assert shown.removesuffix("\n").isprintable()


def test_our_own_colours_and_lines_reach_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    before, sys.stdout = sys.stdout, Terminal()
    try:
        with guarded_terminal():
            print("\x1b[31m\x1b[1mred\x1b[0m\tand\n\x1b[2J")  # noqa: T201  (as a library would)
        assert sys.stdout.getvalue() == "\x1b[31m\x1b[1mred\x1b[0m\tand\n\\e[2J\n"
    finally:
        sys.stdout = before


def test_a_document_that_goes_to_a_file_keeps_its_bytes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with guarded_terminal():
        print("+ text: \u200d")  # noqa: T201  (as a library would)
    assert capsys.readouterr().out == "+ text: \u200d\n"
