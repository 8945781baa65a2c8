"""Tables and styles of text reports: columns under headers, within 80 columns where words allow."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

import click

WIDTH: Final = 80
_GAP: Final = "  "
_NARROWEST: Final = 20
"""A last column is wrapped to no fewer columns, however wide the others are."""


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], indent: str = "") -> list[str]:
    """The head and one text a row; the words of the last column wrap below themselves.

    Cells are printable already; styles do not count for their width.
    """
    cells = [tuple(headers), *map(tuple, rows)]
    widths = [max(len(click.unstyle(row[at])) for row in cells) for at in range(len(headers) - 1)]
    start = len(indent) + sum(widths) + len(_GAP) * len(widths)
    return [_row(row, widths, indent, start) for row in cells]


def _row(row: Sequence[str], widths: Sequence[int], indent: str, start: int) -> str:
    *first, last = row
    padded = (
        text + " " * (width - len(click.unstyle(text)))
        for text, width in zip(first, widths, strict=True)
    )
    room = max(WIDTH - start, _NARROWEST)
    wrapped = [last]
    if len(click.unstyle(last)) > room:
        wrapped = textwrap.wrap(last, room, break_long_words=False, break_on_hyphens=False)
    below = ("\n" + " " * start).join(wrapped)
    return f"{indent}{_GAP.join([*padded, below])}".rstrip()


def styled(text: str, colour_name: str | None = None, *, colour: bool) -> str:
    """Bold text, in a colour if one is named, for a terminal that wants colour."""
    return click.style(text, fg=colour_name, bold=True) if colour else text
