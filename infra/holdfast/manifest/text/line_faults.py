"""What a person wrote on a line that the parser cannot read: the sentence of a reader, not of it.

The parser says what it expected at the place where it gave up. Most mistakes stand elsewhere: a
key without a space after its colon is noticed at the colon of the next line, an open quote at the
next quote. Here the lines themselves are read, and compared with their neighbours.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

_CONFLICT: Final = re.compile(r"<{7} |={7}$|>{7} ")
_TEMPLATE: Final = re.compile(r"\{\{|\$\{\{|<%")
_COMMENT: Final = re.compile(r"(^|(?<=[\s,{\[]))//")
_KEY: Final = re.compile(r"(- +)*(\"[^\"]*\"|'[^']*'|[^\s#\"'\[{&*!|>%@`-][^:#]*):(\s|$)")
_ENTRY: Final = re.compile(r"-(\s|$)")
_NO_SPACE: Final = re.compile(r"(- +)*([A-Za-z][A-Za-z0-9_.]*)(:|=| +)(\S.*)$")
_MOST_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class LineFault:
    """One fault: zero-based line and column, and its words."""

    line: int
    column: int
    expected: str
    found: str
    remedy: str


def line_fault(
    text: str, line: int, column: int, problem: str, parser: type[Any]
) -> LineFault | None:
    """The mistake behind the place where the parser gave up; None where it is at that place.

    Args:
        text: The whole text.
        line: Line at which the parser gave up, from 0.
        column: Its column, from 0.
        problem: The parser's words.
        parser: To read the text again up to there.
    """
    lines = text.split("\n")
    if line >= len(lines):
        return _open_text(text, line, column, parser)
    return (
        _conflict(lines)
        or _template(lines, line)
        or _comment(lines, line)
        or _open_text(text, line, column, parser)
        or _without_space(lines, line, column, problem)
        or _colon_in_text(lines, line, column, problem)
        or _not_indented(lines, line, column)
        or _badly_indented(lines, line, column)
    )


def _conflict(lines: Sequence[str]) -> LineFault | None:
    for number, line in enumerate(lines):
        if _CONFLICT.match(line):
            remedy = "resolve the conflict, and remove the lines of <<<<<<<, ======= and >>>>>>>"
            return LineFault(number, 0, "expected no conflict", "an unresolved merge", remedy)
    return None


def _template(lines: Sequence[str], line: int) -> LineFault | None:
    for number in (line, line - 1):
        match = _TEMPLATE.search(lines[number]) if number >= 0 else None
        if match:
            remedy = "write the value itself: templates are not rendered"
            return LineFault(number, match.start(), "expected valid YAML", "a template", remedy)
    return None


def _comment(lines: Sequence[str], line: int) -> LineFault | None:
    """A comment of another language on the line, or on the one before it."""
    for number in (line, line - 1):
        match = _COMMENT.search(lines[number]) if number >= 0 else None
        if match and not lines[number].lstrip().startswith("#"):
            return LineFault(
                number, match.start(), "expected valid YAML", "//", "begin a comment with '#'"
            )
    return None


def _open_text(text: str, line: int, column: int, parser: type[Any]) -> LineFault | None:
    """A quote that is closed by the next one, lines further down."""
    last = None
    try:
        for event in _events(text, parser):
            if isinstance(event, yaml.ScalarEvent):
                last = event
    except yaml.YAMLError:
        pass
    if last is None or last.style not in {"'", '"'}:
        return None
    start, end = last.start_mark, last.end_mark
    if start is None or end is None:
        return None
    if start.line == end.line or (end.line, end.column) != (line, column):
        return None
    remedy = "close the text that begins at this quote"
    return LineFault(start.line, start.column, "expected a closing quote", "", remedy)


def _events(text: str, parser: type[Any]) -> Iterator[Any]:
    reader = parser(text)
    while reader.check_event():
        yield reader.get_event()


def _without_space(lines: Sequence[str], line: int, column: int, problem: str) -> LineFault | None:
    """A key whose colon has no space after it, or is missing, on the line before."""
    before = _line_before(lines, line)
    if before is None or not problem.startswith("mapping values are not allowed"):
        return None
    written = lines[before].strip()
    is_on_key = column == _end_of_key(lines[line])
    match = _NO_SPACE.fullmatch(written)
    if not is_on_key or match is None or _KEY.match(written):
        return None
    key, _, value = match.groups()[1:]
    shown = f"{key}: {value}" if len(value) <= _MOST_SHOWN else f"{key}: ..."
    return LineFault(
        before,
        _indent(lines[before]),
        "expected ':' and a space after a key",
        repr(written[:_MOST_SHOWN]),
        f'write "{shown}", with a space after the colon',
    )


def _colon_in_text(lines: Sequence[str], line: int, column: int, problem: str) -> LineFault | None:
    """A text without quotes that holds a colon and a space."""
    key = _KEY.match(lines[line].strip())
    end = _end_of_key(lines[line])
    if key is None or column <= end or not problem.startswith("mapping values are not allowed"):
        return None
    text = lines[line][end + 1 :].strip()
    remedy = "put the text in quotes"
    if not set('"\\#') & set(text) and len(text) <= _MOST_SHOWN:
        remedy = f'write "{text}", in quotes'
    return LineFault(line, column, "expected no ': ' in a text without quotes", "", remedy)


def _not_indented(lines: Sequence[str], line: int, column: int) -> LineFault | None:
    """The first line of a part that stands under its name, with the others indented."""
    before = _line_before(lines, line)
    above = None if before is None else _line_before(lines, before)
    if before is None or above is None or column != _end_of_key(lines[line]):
        return None
    first, name = lines[before], lines[above]
    is_part = name.rstrip().endswith(":") and _indent(name) == _indent(first)
    if not is_part or not _KEY.match(first.strip()) or _indent(lines[line]) <= _indent(first):
        return None
    return LineFault(
        before,
        _indent(first),
        f"expected it indented, as a part of {name.strip().removesuffix(':')}",
        "",
        f"indent it by {_indent(lines[line])} spaces, like line {line + 1}",
    )


def _badly_indented(lines: Sequence[str], line: int, column: int) -> LineFault | None:
    """A line that is indented like none of those above it which are still open."""
    current = lines[line]
    indent = _indent(current)
    if column != indent and column != _end_of_key(current):
        return None
    open_lines = _open_lines(lines, line)
    if not open_lines or indent in open_lines:
        return None
    is_entry = bool(_ENTRY.match(current.strip()))
    alike = {
        each: number
        for each, number in open_lines.items()
        if bool(_ENTRY.match(lines[number].strip())) == is_entry
    }
    candidates = alike or open_lines
    nearest = min(candidates, key=lambda each: (abs(each - indent), -each))
    return LineFault(
        line,
        indent,
        "expected the indentation of another line",
        f"{indent} space{'' if indent == 1 else 's'}",
        f"indent it by {nearest} spaces, like line {candidates[nearest] + 1}",
    )


def _open_lines(lines: Sequence[str], line: int) -> dict[int, int]:
    """Indentation to the nearest line above that has it, of the mappings and lists still open."""
    found: dict[int, int] = {}
    lowest: int | None = None
    for number in range(line - 1, -1, -1):
        written = lines[number].strip()
        if not written or written.startswith("#"):
            continue
        if written.startswith("---"):
            break
        indent = _indent(lines[number])
        if lowest is None or indent < lowest:
            found[indent] = number
            match = re.match(r"(- +)+", written)
            if match and _KEY.match(written[match.end() :]):
                found.setdefault(indent + match.end(), number)
            lowest = indent
    return found


def _line_before(lines: Sequence[str], line: int) -> int | None:
    for number in range(line - 1, -1, -1):
        written = lines[number].strip()
        if written and not written.startswith("#"):
            return number
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _end_of_key(line: str) -> int:
    """Column of the colon of the key that opens a line; -1 where none does."""
    match = _KEY.match(line.strip())
    return _indent(line) + match.end(2) if match else -1
