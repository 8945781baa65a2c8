"""Values of fields for people: one on a line, two long ones line against line."""

import difflib
from typing import Any, Final

import msgspec

from holdfast.kube.safe_text import LONGEST_SHOWN_CHARACTERS, safe_text

LONGEST_DIFF_LINES: Final = 200
_CONTEXT_LINES: Final = 2
_LONGEST_LINE_CHARACTERS: Final = 400


def value_words(
    value: Any,  # noqa: ANN401  (any JSON value)
    longest: int = LONGEST_SHOWN_CHARACTERS,
) -> str:
    """A value on one printable line: text as it stands, all else as JSON."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return safe_text(text, longest)


def line_diff(before: object, after: object) -> tuple[str, ...]:
    """Lines that went (`-`), came (`+`) and stand beside them (a space); empty for short values.

    Every line is printable. A diff of more than 200 lines ends by saying how many are left out.
    """
    if not isinstance(before, str) or not isinstance(after, str):
        return ()
    if "\n" not in before.rstrip("\n") and "\n" not in after.rstrip("\n"):
        return ()
    lines = list(
        difflib.unified_diff(before.split("\n"), after.split("\n"), n=_CONTEXT_LINES, lineterm="")
    )[2:]
    shown = [
        line[:1] + safe_text(line[1:], _LONGEST_LINE_CHARACTERS)
        for line in lines[:LONGEST_DIFF_LINES]
    ]
    left_out = len(lines) - len(shown)
    return (*shown, f"  … {left_out} more lines") if left_out else tuple(shown)
