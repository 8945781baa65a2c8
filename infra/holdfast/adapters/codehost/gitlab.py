"""A project on GitLab, by its REST API (version 4)."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from urllib.parse import quote

from holdfast.adapters.codehost.api import Api, Text


class GitLab:
    """One project."""

    def __init__(self, address: str, project: str, token: str) -> None:
        """Prepare to ask.

        Args:
            address: Of the API, `https://gitlab.example/api/v4`.
            project: Number or path.
            token: Of a project's or a person's account, scope `api`; a job's own token will not do.
        """
        remedy = "set GITLAB_TOKEN to a project access token with scope api, role Reporter or more"
        self._api = Api(address, {"PRIVATE-TOKEN": token}, remedy=remedy)
        self._place = f"/projects/{quote(project, safe='')}"

    @cached_property
    def _own_number(self) -> int:
        return int(self._api.ask("GET", "/user")["id"])

    def comments(self, change: int) -> Iterator[Text]:
        """Our comments on a merge request."""
        for each in self._api.pages(f"{self._place}/merge_requests/{change}/notes"):
            if self._is_own(each) and not each.get("system"):
                yield _text(each, "id")

    def add_comment(self, change: int, body: str) -> Text:
        """Write a new comment."""
        path = f"{self._place}/merge_requests/{change}/notes"
        return _text(self._api.ask("POST", path, {"body": body}), "id")

    def edit_comment(self, change: int, comment: int, body: str) -> Text:
        """Replace a comment's text."""
        path = f"{self._place}/merge_requests/{change}/notes/{comment}"
        return _text(self._api.ask("PUT", path, {"body": body}), "id")

    def open_issues(self, label: str) -> Iterator[Text]:
        """Our open issues that bear a label."""
        for each in self._api.pages(f"{self._place}/issues", state="opened", labels=label):
            if self._is_own(each):
                yield _text(each, "iid")

    def add_issue(self, title: str, body: str, label: str) -> Text:
        """Open an issue."""
        sent = {"title": title, "description": body, "labels": label}
        return _text(self._api.ask("POST", f"{self._place}/issues", sent), "iid")

    def edit_issue(self, issue: int, title: str, body: str) -> Text:
        """Replace an issue's title and text."""
        sent = {"title": title, "description": body}
        return _text(self._api.ask("PUT", f"{self._place}/issues/{issue}", sent), "iid")

    def close_issue(self, issue: int, reason: str) -> Text:
        """Say why in a comment, and close it."""
        self._api.ask("POST", f"{self._place}/issues/{issue}/notes", {"body": reason})
        sent = {"state_event": "close"}
        return _text(self._api.ask("PUT", f"{self._place}/issues/{issue}", sent), "iid")

    def _is_own(self, document: dict[str, Any]) -> bool:
        return (document.get("author") or {}).get("id") == self._own_number


def _text(document: dict[str, Any], number: str) -> Text:
    body = document.get("body") or document.get("description") or ""
    return Text(int(document[number]), str(body), str(document.get("web_url") or ""))
