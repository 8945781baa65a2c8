"""One comment a change and one issue a subject, kept up to date instead of written again.

A marker at the beginning of the text, which readers do not see, identifies ours; the host sees to
it that no text of an outsider is among those that are looked through. What bears the marker and may
not be written by us is another app's: it is passed over.

Law: however often the same text is kept, there is one of it, and the second time writes nothing.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from holdfast.adapters.codehost.api import CodeHost, CodeHostError, Text
from holdfast.errors import InputError

LABEL: Final = "holdfast"
LONGEST_BODY_CHARACTERS: Final = 65_000
_NOT_OURS: Final = frozenset({403, 404})
_MARKER: Final = re.compile(r"[A-Za-z0-9._/-]+")


class CommentOutcome(StrEnum):
    """What was done."""

    CREATED = "created"
    UPDATED = "updated"
    CLOSED = "closed"
    UNCHANGED = "unchanged"
    NOTHING = "nothing to say"


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """What became of a comment or an issue.

    Attributes:
        text: The one that is kept; None where there is none.
    """

    outcome: CommentOutcome
    text: Text | None = None

    def __str__(self) -> str:
        where = f": {self.text.address}" if self.text and self.text.address else ""
        return f"{self.outcome.value}{where}"


def keep_comment(host: CodeHost, change: int, marker: str, body: str) -> KeptEntry:
    """Keep one comment on a pull or merge request.

    Args:
        host: Where.
        change: Number of the request.
        marker: Tells this comment from others of ours: letters, digits and `._/-`.
        body: Markdown; when it is empty no comment is made, and one that stands there says so.

    Raises:
        InputError: the marker or the body cannot be used.
        CodeHostError: the host did not do it.
    """
    first = _first_line(marker)
    found = [each for each in host.comments(change) if _bears(each, first)]
    if not found and not body.strip():
        return KeptEntry(CommentOutcome.NOTHING)
    whole = _whole(first, body if body.strip() else "Nothing to say about this change any more.")
    if same := next((each for each in found if _is_same(each, whole)), None):
        return KeptEntry(CommentOutcome.UNCHANGED, same)
    edited = _first_done(found, lambda each: host.edit_comment(change, each.number, whole))
    if edited is not None:
        return KeptEntry(CommentOutcome.UPDATED, edited)
    return KeptEntry(CommentOutcome.CREATED, host.add_comment(change, whole))


def keep_issue(host: CodeHost, marker: str, title: str, body: str | None) -> KeptEntry:
    """Keep one open issue while there is something to report, and none otherwise.

    Args:
        host: Where.
        marker: As of `keep_comment`.
        title: Of the issue.
        body: Markdown; None when all is well: an open issue is closed then.

    Raises:
        InputError: the marker or the body cannot be used.
        CodeHostError: the host did not do it.
    """
    first = _first_line(marker)
    found = [each for each in host.open_issues(LABEL) if _bears(each, first)]
    if body is None:
        closed = _first_done(
            found, lambda each: host.close_issue(each.number, "All is well again.")
        )
        return (
            KeptEntry(CommentOutcome.NOTHING)
            if closed is None
            else KeptEntry(CommentOutcome.CLOSED, closed)
        )
    whole = _whole(first, body)
    if same := next((each for each in found if _is_same(each, whole)), None):
        return KeptEntry(CommentOutcome.UNCHANGED, same)
    edited = _first_done(found, lambda each: host.edit_issue(each.number, title, whole))
    if edited is not None:
        return KeptEntry(CommentOutcome.UPDATED, edited)
    return KeptEntry(CommentOutcome.CREATED, host.add_issue(title, whole, LABEL))


def _first_done(found: Iterable[Text], change: Callable[[Text], Text]) -> Text | None:
    """Change the first text that we may; None where there is none."""
    for each in found:
        try:
            return change(each)
        except CodeHostError as error:
            if error.status not in _NOT_OURS:
                raise
    return None


def _first_line(marker: str) -> str:
    if not _MARKER.fullmatch(marker) or "--" in marker:
        raise InputError(
            f"expected a marker of letters, digits and ._/-, got {marker!r}",
            remedy="such as policy/prod",
        )
    return f"<!-- holdfast:{marker} -->"


def _whole(first_line: str, body: str) -> str:
    whole = f"{first_line}\n{body.strip()}\n"
    if len(whole) > LONGEST_BODY_CHARACTERS:
        raise InputError(
            f"expected at most {LONGEST_BODY_CHARACTERS} characters, got {len(whole)}",
            remedy="write the report with `-o markdown`, which leaves out what does not fit",
        )
    return whole


def _bears(text: Text, first_line: str) -> bool:
    return text.body.splitlines()[:1] == [first_line]


def _is_same(found: Text, whole: str) -> bool:
    # Hosts change line ends and trailing space.
    return found.body.split() == whole.split()
