"""Foreign text in Markdown: it cannot end its cell, open a link or ping anybody."""

import re
from typing import Final

_LONGEST_CELL_CHARACTERS: Final = 300
_MEANINGFUL: Final = re.compile(r"[^\w ,;=/'+?%-]|_")


def inert(text: str) -> str:
    """Text without any character that Markdown or HTML gives a meaning to.

    Law: what is left besides character references is letters, digits, spaces
    and `,;=/'+?%-`, none of which means anything in the middle of a line.
    """
    return _MEANINGFUL.sub(lambda match: f"&#{ord(match[0])};", text)


def inert_code(text: str, longest: int = _LONGEST_CELL_CHARACTERS) -> str:
    """Foreign text as inert code, cut where it is long."""
    cut = text[:longest]
    return f"<code>{inert(cut)}{'…' if len(text) > len(cut) else ''}</code>"


def inert_diff(lines: list[str]) -> str:
    """Lines of a diff as a block in which nothing but their signs has a meaning."""
    return "\n".join(['<pre lang="diff">', *map(inert, lines), "</pre>"])
