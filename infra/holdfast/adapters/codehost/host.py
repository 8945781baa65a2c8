"""What a code host can do for us, whichever it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Text:
    """A comment or an issue of our own.

    Attributes:
        number: By which it is named in requests.
        body: Markdown.
        address: Where people read it.
    """

    number: int
    body: str
    address: str


class CodeHost(Protocol):
    """A project on GitHub or GitLab.

    Law: a list holds what our own account has written, and where the host does not say which that
    is, what some app of the project has; never what a person of no rights can write.
    """

    def comments(self, change: int) -> Iterator[Text]:
        """Our comments on a pull or merge request."""

    def add_comment(self, change: int, body: str) -> Text:
        """Write a new comment."""

    def edit_comment(self, change: int, comment: int, body: str) -> Text:
        """Replace a comment's text."""

    def open_issues(self, label: str) -> Iterator[Text]:
        """Our open issues that bear a label."""

    def add_issue(self, title: str, body: str, label: str) -> Text:
        """Open an issue."""

    def edit_issue(self, issue: int, title: str, body: str) -> Text:
        """Replace an issue's title and text."""

    def close_issue(self, issue: int, reason: str) -> Text:
        """Say why in a comment, and close it."""
