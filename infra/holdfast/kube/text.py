"""Text from a cluster for a terminal, values of fields, and objects as YAML.

An annotation may hold anything: text that moves the cursor, forges a line of a log or hides a link
is shown escaped. In YAML each string is quoted as in JSON, because parsers read bare `00000008`,
`NO` or `1e3` differently.
"""

import difflib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

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


def counted(count: int, noun: str) -> str:
    """`1 agent`, `2 agents`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _escaped(character: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}.get(character)
    code = ord(character)
    largest_byte, largest_short = 0xFF, 0xFFFF
    if named:
        return named
    if code <= largest_byte:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= largest_short else f"\\U{code:08x}"


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


_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# What YAML does not print or takes for a line break, and JSON leaves bare.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def yaml_documents(objects: Iterable[Mapping[str, Any]]) -> str:
    """Several objects as one text, each begun by `---`; sorted, so equal input, equal bytes."""
    return "".join(f"---\n{yaml_document(each)}" for each in objects)


def yaml_document(value: Mapping[str, Any]) -> str:
    """One object as block-style YAML."""
    return ("\n".join(_lines(value, "")) or "{}") + "\n"


def _lines(value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from _entry(f"{indent}{_key(key)}:", value[key], f"{indent}  ")
    else:
        for item in value:
            yield from _item_lines(item, indent)


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping | list | tuple) and value:
        yield head
        yield from _lines(value, indent)
    else:
        yield f"{head} {_scalar(value)}"


def _item_lines(item: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if not isinstance(item, Mapping | list | tuple) or not item:
        yield f"{indent}- {_scalar(item)}"
        return
    first, *rest = _lines(item, f"{indent}  ")
    yield f"{indent}- {first.removeprefix(f'{indent}  ')}"
    yield from rest


def _key(key: str) -> str:
    if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED:
        return key
    return _scalar(key)


def _scalar(value: Any) -> str:  # noqa: ANN401 - any JSON value
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
