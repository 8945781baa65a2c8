"""JSON as Holdfast prints it: the only place that does. Safe to show on a terminal."""

import re
from typing import Any, Final

import msgspec

# What JSON may hold bare and a terminal obeys: C1 controls, marks that turn or hide text.
_UNPRINTABLE: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]"
)


def json_text(document: Any, *, is_sorted: bool = False) -> str:  # noqa: ANN401  (JSON)
    """One document, indented, ending in a line end.

    Args:
        document: Plain data, dataclasses or structs.
        is_sorted: Whether keys stand in alphabetical order.
    """
    encoded = msgspec.json.encode(document, order="sorted" if is_sorted else None)
    return _printable(msgspec.json.format(encoded, indent=1)) + "\n"


def json_line(document: Any) -> str:  # noqa: ANN401  (JSON)
    """One document on one line, without its end."""
    return _printable(msgspec.json.encode(document))


def _printable(text: bytes) -> str:
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text.decode())
