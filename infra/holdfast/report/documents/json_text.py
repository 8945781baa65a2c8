"""JSON documents as Holdfast prints them."""

import re
from typing import Any, Final

import msgspec

# What JSON may hold bare and a terminal obeys: C1 controls, marks that turn or hide text.
_UNPRINTABLE: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]"
)


def json_text(document: Any) -> str:  # noqa: ANN401  (JSON)
    """One document, indented, ending in a line end; safe to show on a terminal."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=1).decode()
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
