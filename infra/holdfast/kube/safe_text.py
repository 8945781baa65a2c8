"""The one place where text from a cluster becomes text for a terminal.

Whoever may write an annotation may otherwise move the cursor, forge a line of a log or hide a link:
control characters, line ends, bidirectional marks and unassigned code points are shown escaped.
"""

import unicodedata
from typing import Final

LONGEST_SHOWN_CHARACTERS: Final = 160
_ESCAPED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def safe_text(text: str, longest: int = LONGEST_SHOWN_CHARACTERS) -> str:
    """One printable line, shortened in the middle of nothing: the end is cut and marked.

    Law: the result has no control, format or line-ending character.
    """
    shown = "".join(
        _escaped(character) if unicodedata.category(character) in _ESCAPED_CATEGORIES else character
        for character in text[: longest + 1]
    )
    return f"{shown[:longest]}…" if len(text) > longest else shown


def _escaped(character: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}.get(character)
    code = ord(character)
    largest_byte, largest_short = 0xFF, 0xFFFF
    if named:
        return named
    if code <= largest_byte:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= largest_short else f"\\U{code:08x}"
