"""Words for messages: short, on one line, printable; never the value of a secret."""

import json
from collections.abc import Iterable

from holdfast_policies.decode.secret import holds_secret

_LONGEST_VALUE = 80
_INVISIBLE = frozenset("\u200e\u200f\u061c\u2028\u2029") | frozenset(
    chr(code)
    for first, last in ((0x202A, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
)


def printable(text: str) -> str:
    """Text with control characters and direction marks escaped: objects cannot forge output."""
    if text.isprintable() and _INVISIBLE.isdisjoint(text):
        return text
    return "".join(
        char if char.isprintable() and char not in _INVISIBLE else f"\\u{ord(char):04x}"
        for char in text
    )


def shown(value: object) -> str:
    """A value as JSON, cut where it is long; what was declared secret is not shown."""
    if value is None:
        return "nothing"
    if holds_secret(value):
        return "a secret value"
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= _LONGEST_VALUE else f"{written[: _LONGEST_VALUE - 1]}…"


def either(values: Iterable[str]) -> str:
    """`"a", "b" or "c"`."""
    quoted = [f'"{value}"' for value in values]
    return " or ".join([*([", ".join(quoted[:-1])] if len(quoted) > 1 else []), *quoted[-1:]])
