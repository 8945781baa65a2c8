"""What is wrong with the syntax of YAML: the parser's words to a place and a remedy.

The parser names the place where it gave up, which is a line too late for an open quote, an open
bracket or a key without a colon; there the place where these begin is the one to correct.
"""

from dataclasses import dataclass
from typing import Any, Final

import yaml

from holdfast.errors import ManifestError, SourceLocation
from holdfast.manifest.text.line_faults import line_fault

_TAB: Final = "\t"
_NO_BREAK_SPACE: Final = "\u00a0"


@dataclass(frozen=True, slots=True)
class _Syntax:
    """One kind of fault.

    Attributes:
        problem: How the parser's sentence begins.
        is_before: The fault stands one character before.
        is_at_start: The fault stands where the open part begins, if that is an earlier line.
    """

    problem: str
    expected: str
    remedy: str
    is_at_start: bool = False
    is_before: bool = False


_INDENT: Final = "indent the line like its neighbours"
_KNOWN: Final = (
    _Syntax(
        "mapping values are not allowed",
        "expected no ': ' at this place",
        f"{_INDENT}, or quote a text that holds ': '",
    ),
    _Syntax(
        "could not find expected ':'",
        "expected ':' after a key",
        'write "key: value", with a plain space after the colon',
        is_at_start=True,
    ),
    _Syntax(
        "did not find expected '-'", "expected '-' indicator", f"{_INDENT}, or begin it by '-'"
    ),
    _Syntax(
        "did not find expected ',' or '}'",
        "expected ',' or '}' after this '{'",
        "separate entries by commas, and close the brace",
        is_at_start=True,
    ),
    _Syntax(
        "did not find expected ',' or ']'",
        "expected ',' or ']' after this '['",
        "separate entries by commas, and close the bracket",
        is_at_start=True,
    ),
    _Syntax(
        "found unexpected end of stream",
        "expected a closing quote",
        "close the text that begins at this quote",
        is_at_start=True,
    ),
    _Syntax(
        "did not find expected key",
        "expected a key",
        f"{_INDENT}; double a quote that stands inside of quotes",
    ),
    _Syntax(
        "found character that cannot start any token",
        "expected no text that begins so",
        "put the text in quotes",
    ),
    _Syntax(
        "did not find expected alphabetic or numeric character",
        "expected no text that begins so",
        "put the text in quotes",
        is_before=True,
    ),
    _Syntax(
        "found unknown escape character",
        "expected a known escape after the backslash",
        "double the backslash, or use single quotes",
    ),
)


def syntax_fault(error: yaml.YAMLError, text: str, file: str, parser: type[Any]) -> ManifestError:
    """Where a text stops being YAML, and what to write there.

    Args:
        error: What the parser raised.
        text: The whole text.
        file: Name of the file for people.
        parser: The parser that raised it.
    """
    start: yaml.Mark | None = getattr(error, "context_mark", None)
    mark: yaml.Mark | None = getattr(error, "problem_mark", None) or start
    at = mark
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "")
    known = next((each for each in _KNOWN if problem.startswith(each.problem)), None)
    expected, found = "expected valid YAML", problem.removeprefix("found ")
    remedy = "correct the YAML at this place"
    if known is not None:
        expected, found, remedy = known.expected, "", known.remedy
        if known.is_before and start:
            mark = at = start
            found = repr(text.split("\n")[mark.line][mark.column : mark.column + 1])
        if known.is_at_start and start and mark and start.line < mark.line:
            mark = start
    elif problem.startswith("did not find expected "):
        expected, found = problem.removeprefix("did not find "), ""
    if mark is None or at is None:
        return ManifestError(
            SourceLocation(file), "", expected=expected, found=found, remedy=remedy
        )
    if found_there := line_fault(text, at.line, at.column, problem, parser):
        return ManifestError(
            SourceLocation(file, found_there.line + 1, found_there.column + 1),
            "",
            expected=found_there.expected,
            found=found_there.found,
            remedy=found_there.remedy,
        )
    line, column = (*text.split("\n")[mark.line : mark.line + 1], "")[0], mark.column
    if line[column:].startswith(_TAB):
        expected, found, remedy = "expected valid YAML", "a tab", "indent with spaces"
    elif _NO_BREAK_SPACE in line:
        column = line.index(_NO_BREAK_SPACE)
        found, remedy = "a no-break space (U+00A0)", "write a plain space"
    elif line.lstrip().startswith("-") and line.lstrip()[1:2] not in {"", " ", "-"}:
        expected, remedy = "expected a space after '-'", 'begin the entry by "- "'
    elif problem == "found character that cannot start any token":
        found = repr(line[column : column + 1])
    place = SourceLocation(file, mark.line + 1, column + 1)
    return ManifestError(place, "", expected=expected, found=found, remedy=remedy)
