import unicodedata

import pytest
from holdfast.kube.safe_text import safe_text
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain – text", "plain – text", id="plain"),
        pytest.param("\x1b[2Jgone", "\\e[2Jgone", id="clear screen"),
        pytest.param("\x1b]8;;http://x\x07link", "\\e]8;;http://x\\x07link", id="hyperlink"),
        pytest.param("a\r\nERROR forged", "a\\r\\nERROR forged", id="forged line"),
        pytest.param("abc\u202egnp.exe", "abc\\u202egnp.exe", id="bidirectional override"),
        pytest.param("zero\u200bwidth", "zero\\u200bwidth", id="zero width"),
        pytest.param("\u2028", "\\u2028", id="line separator"),
        pytest.param("\U000e0001", "\\U000e0001", id="tag character"),
    ],
)
def test_what_moves_a_terminal_is_shown_and_not_done(text: str, shown: str) -> None:
    assert safe_text(text) == shown


@given(st.text())
def test_the_result_is_one_printable_line(text: str) -> None:
    shown = safe_text(text)
    assert not [each for each in shown if unicodedata.category(each)[0] == "C" or each in "\r\n"]


def test_a_long_text_is_cut_and_marked() -> None:
    assert safe_text("x" * 500, longest=10) == "x" * 10 + "…"
