"""What a code host can do, whichever it is, and requests to its JSON API over HTTPS.

One way to send, one way to fail, no token in any text.
"""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import urlencode, urlsplit

import msgspec
import urllib3

from holdfast import __version__
from holdfast.errors import ExitCode, HoldfastError, InputError


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


PAGE_ITEMS: Final = 100
LONGEST_WAIT_SECONDS: Final = 60.0
"""How long a limit of requests is waited for; a longer one is an error that says until when."""

_MOST_PAGES: Final = 100
_MOST_WAITS: Final = 3
_FIRST_FAILURE: Final = 300
_TOO_MANY: Final = 429
_FORBIDDEN: Final = 403
_REFUSED: Final = frozenset({401, _FORBIDDEN})
# GitHub says of its secondary limits to wait so long where it does not say how long.
_UNKNOWN_WAIT_SECONDS: Final = 60.0
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_TIMEOUT: Final = urllib3.Timeout(connect=10.0, read=30.0)
# What makes something is tried again only where it cannot have arrived: two comments are worse
# than none.
_RETRIES: Final = urllib3.Retry(
    connect=3,
    read=0,
    redirect=0,
    status=3,
    other=0,
    status_forcelist=(502, 503, 504),
    allowed_methods=("GET", "PATCH", "PUT"),
    backoff_factor=0.5,
    raise_on_status=False,
    respect_retry_after_header=False,
)


class CodeHostError(HoldfastError):
    """GitHub or GitLab did not do what was asked.

    Attributes:
        status: Of the HTTP answer; 0 without one, 429 for each limit of requests.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        remedy: str = "",
        exit_code: ExitCode | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy, exit_code=exit_code)
        self.status = status


class Api:
    """One API, asked with one token."""

    def __init__(self, address: str, headers: Mapping[str, str], *, remedy: str) -> None:
        """Prepare to ask.

        Args:
            address: Such as `https://api.github.com`; plain http only on the loopback address.
            headers: Of each request, the token among them.
            remedy: What to do when the token is refused.

        Raises:
            InputError: a token would be sent in the clear, or it is no address.
        """
        parts = urlsplit(address)
        is_local = parts.hostname in _LOOPBACK and parts.scheme == "http"
        if not parts.hostname or (parts.scheme != "https" and not is_local):
            raise InputError(
                f"expected an API address that begins with https://, got {address!r}",
                remedy="correct GITHUB_API_URL or CI_API_V4_URL",
            )
        self._address = address.rstrip("/")
        self._remedy = remedy
        self._headers = {"User-Agent": f"holdfast/{__version__}", **headers}
        self._pool = urllib3.PoolManager(timeout=_TIMEOUT, retries=_RETRIES)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Ask for one object, or send one; gives the object of the answer.

        Raises:
            CodeHostError: no answer, one that says no, or one that is no JSON object.
        """
        answer = self._ask(method, path, body, {})
        if not isinstance(answer, dict):
            raise self._unexpected(method, path, "expected a JSON object")
        return answer

    def pages(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Every item of a list, page by page.

        Raises:
            CodeHostError: as `ask`.
        """
        for page in range(1, _MOST_PAGES + 1):
            asked = {**query, "per_page": PAGE_ITEMS, "page": page}
            items = self._ask("GET", path, None, asked)
            if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
                raise self._unexpected("GET", path, "expected a JSON list of objects")
            yield from items
            if len(items) < PAGE_ITEMS:
                return

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str | int],
    ) -> Any:  # noqa: ANN401  (any JSON value)
        sent = {"Content-Type": "application/json"} if body is not None else {}
        url = f"{self._address}{path}" + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else msgspec.json.encode(body)
        answer = self._answer(method, path, url, data, self._headers | sent)
        if answer.status >= _FIRST_FAILURE:
            raise self._failure(f"{method} {self._address}{path}", answer)
        try:
            return msgspec.json.decode(answer.data)
        except msgspec.DecodeError as error:
            kind = answer.headers.get("Content-Type", "").partition(";")[0] or "no content type"
            raise self._unexpected(method, path, f"expected JSON, got {kind}") from error

    def _answer(
        self, method: str, path: str, url: str, data: bytes | None, headers: Mapping[str, str]
    ) -> urllib3.BaseHTTPResponse:
        """The answer to a request; what a limit of requests refuses is asked again after it.

        A request that was refused for the limit did nothing, so that each method may be repeated.
        """
        waits = 0
        while True:
            try:
                answer = self._pool.request(method, url, body=data, headers=headers)
            except urllib3.exceptions.HTTPError as error:
                message = f"{method} {self._address}{path}: no answer ({type(error).__name__})"
                remedy = "check the network and run it again"
                raise CodeHostError(message, remedy=remedy) from error
            wait_seconds = _limit_seconds(answer)
            if wait_seconds is None or wait_seconds > LONGEST_WAIT_SECONDS or waits == _MOST_WAITS:
                return answer
            waits += 1
            time.sleep(wait_seconds)

    def _failure(self, what: str, answer: urllib3.BaseHTTPResponse) -> CodeHostError:
        status = answer.status
        message = f"{what}: {status}{_said(answer.data)}"
        if (wait_seconds := _limit_seconds(answer)) is not None:
            return CodeHostError(
                f"{message}: the limit of requests is reached",
                status=_TOO_MANY,
                remedy=f"run it again in {max(1, math.ceil(wait_seconds / 60))} min",
            )
        if status in _REFUSED:
            return CodeHostError(
                message, status=status, remedy=self._remedy, exit_code=ExitCode.AUTHENTICATION
            )
        return CodeHostError(message, status=status)

    def _unexpected(self, method: str, path: str, what: str) -> CodeHostError:
        return CodeHostError(
            f"{method} {self._address}{path}: {what}",
            remedy="check GITHUB_API_URL or CI_API_V4_URL, and whether a proxy answers for it",
        )


def _limit_seconds(answer: urllib3.BaseHTTPResponse) -> float | None:
    """How long a limit of requests still lasts; None where the answer has another reason.

    GitHub refuses with 403, as it refuses a missing right; its headers distinguish them.
    """
    headers = answer.headers
    is_limit = (
        answer.status == _TOO_MANY
        or "Retry-After" in headers
        or headers.get("X-RateLimit-Remaining") == "0"
        or b"rate limit" in answer.data
    )
    if answer.status not in {_TOO_MANY, _FORBIDDEN} or not is_limit:
        return None
    if (wait := headers.get("Retry-After", "")).isdigit():
        return float(wait)
    reset = headers.get("X-RateLimit-Reset") or headers.get("RateLimit-Reset") or ""
    return max(0.0, float(reset) - time.time()) if reset.isdigit() else _UNKNOWN_WAIT_SECONDS


def _said(data: bytes) -> str:
    """What the host says about a failure, on one short line."""
    try:
        said = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return ""
    text = said.get("message") or said.get("error") if isinstance(said, dict) else ""
    shown = " ".join(str(text or "").split())
    return f" {shown[:200]}" if shown.isprintable() and shown else ""
