"""What an unquoted YAML scalar means: only what YAML 1.1 and 1.2 agree on has a meaning.

Everything else that either version reads as something other than text (`NO`, `012`, `1e3`,
`2026-01-01`) is ambiguous: it must be quoted, or written as a plain decimal number.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_NUMBER_CHARACTERS = 16

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A scalar that one YAML version reads as something other than text."""

    text: str
    read_as: str


_WORDS: dict[str, Scalar] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_BOOLEAN_WORDS = frozenset(
    spelling for word in ("y", "n", "yes", "no", "on", "off")
    for spelling in (word, word.capitalize(), word.upper())
)  # fmt: skip
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+")
_AMBIGUOUS = (
    ("octal int", re.compile(r"[-+]?0[0-7_]+|0o[0-7]+")),
    ("int", re.compile(r"[-+]?0[0-9_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?0b[01_]+|[-+]?[0-9][0-9_]*")),
    ("base-60 int", re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")),
    ("float", re.compile(r"[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9_]+)([eE][-+]?[0-9]+)?")),
    ("float", re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")),
    ("date", re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?")),
    ("merge key", re.compile(r"<<")),
    ("default value", re.compile(r"=")),
)
# Most texts begin with a letter that opens none of the patterns above.
_OPENING = frozenset("0123456789+-.<=")


@lru_cache(maxsize=8192)
def read_plain(text: str) -> Scalar | Ambiguous:
    """Value of an unquoted scalar, or why it is ambiguous.

    Law: a result other than `Ambiguous` is what YAML 1.1 and YAML 1.2 (core schema) both read.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text in _BOOLEAN_WORDS:
        return Ambiguous(text, "bool")
    if text[0] not in _OPENING:
        return text
    # Longer numbers do not survive programs that read them as 64-bit floats.
    if len(text) <= MAX_NUMBER_CHARACTERS:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text):
            return float(text)
    kinds = (read_as for read_as, pattern in _AMBIGUOUS if pattern.fullmatch(text))
    read_as = next(kinds, None)
    return Ambiguous(text, read_as) if read_as else text
