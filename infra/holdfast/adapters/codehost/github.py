"""A repository on GitHub, by its REST API (version 2022-11-28)."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from holdfast.adapters.codehost.api import Api, CodeHostError, Text

_NOT_FOR_APPS: Final = frozenset({403, 404})
_APP: Final = "Bot"


class GitHub:
    """One repository."""

    def __init__(self, address: str, repository: str, token: str) -> None:
        """Prepare to ask.

        Args:
            address: Of the API.
            repository: `owner/name`.
            token: With the rights `issues: write` and `pull-requests: write`.
        """
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        remedy = "give the job `permissions:` pull-requests: write, or issues: write for issues"
        self._api = Api(address, headers, remedy=remedy)
        self._place = f"/repos/{repository}"

    @cached_property
    def _own_name(self) -> str:
        """Name of the account; empty for an app, a job's own among them: it may not ask."""
        try:
            return str(self._api.ask("GET", "/user").get("login") or "")
        except CodeHostError as error:
            if error.status in _NOT_FOR_APPS:
                return ""
            raise

    def _may_be_own(self, document: dict[str, Any]) -> bool:
        """Whether our account wrote it; for the token of an app: whether any app did.

        Only whom the repository has installed writes as an app, so that no outsider can put text
        where ours is looked for.
        """
        author = document.get("user") or {}
        if self._own_name:
            return bool(author.get("login") == self._own_name)
        return bool(author.get("type") == _APP)

    def comments(self, change: int) -> Iterator[Text]:
        """Our comments on a pull request."""
        for each in self._api.pages(f"{self._place}/issues/{change}/comments"):
            if self._may_be_own(each):
                yield _text(each, "id")

    def add_comment(self, change: int, body: str) -> Text:
        """Write a new comment."""
        path = f"{self._place}/issues/{change}/comments"
        return _text(self._api.ask("POST", path, {"body": body}), "id")

    def edit_comment(self, change: int, comment: int, body: str) -> Text:
        """Replace a comment's text."""
        path = f"{self._place}/issues/comments/{comment}"
        return _text(self._api.ask("PATCH", path, {"body": body}), "id")

    def open_issues(self, label: str) -> Iterator[Text]:
        """Our open issues that bear a label; pull requests, which GitHub lists too, left out."""
        for each in self._api.pages(f"{self._place}/issues", state="open", labels=label):
            if self._may_be_own(each) and "pull_request" not in each:
                yield _text(each, "number")

    def add_issue(self, title: str, body: str, label: str) -> Text:
        """Open an issue."""
        sent = {"title": title, "body": body, "labels": [label]}
        return _text(self._api.ask("POST", f"{self._place}/issues", sent), "number")

    def edit_issue(self, issue: int, title: str, body: str) -> Text:
        """Replace an issue's title and text."""
        sent = {"title": title, "body": body}
        return _text(self._api.ask("PATCH", f"{self._place}/issues/{issue}", sent), "number")

    def close_issue(self, issue: int, reason: str) -> Text:
        """Say why in a comment, and close it."""
        self.add_comment(issue, reason)
        sent = {"state": "closed", "state_reason": "completed"}
        return _text(self._api.ask("PATCH", f"{self._place}/issues/{issue}", sent), "number")


def _text(document: dict[str, Any], number: str) -> Text:
    body = str(document.get("body") or "")
    return Text(int(document[number]), body, str(document.get("html_url") or ""))
