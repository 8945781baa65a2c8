"""Requests to a JSON API over HTTPS: one way to ask, one way to fail, no token in any text."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import msgspec
import urllib3

from holdfast import __version__
from holdfast.errors import ExitCode, HoldfastError, InputError

PAGE_ITEMS: Final = 100
_MOST_PAGES: Final = 100
_FIRST_FAILURE: Final = 300
_REFUSED: Final = frozenset({401, 403})
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
    status_forcelist=(429, 502, 503, 504),
    allowed_methods=("GET", "PATCH", "PUT"),
    backoff_factor=0.5,
    raise_on_status=False,
)


class CodeHostError(HoldfastError):
    """GitHub or GitLab did not do what was asked.

    Attributes:
        status: Of the HTTP answer; 0 without one.
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

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str | int] | None = None,
    ) -> Any:  # noqa: ANN401  (any JSON value)
        """Ask once; the JSON of the answer, None for an empty one.

        Raises:
            CodeHostError: no answer, or one that says no.
        """
        what = f"{method} {self._address}{path}"
        sent = {"Content-Type": "application/json"} if body is not None else {}
        url = f"{self._address}{path}" + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else msgspec.json.encode(body)
        try:
            answer = self._pool.request(method, url, body=data, headers=self._headers | sent)
        except urllib3.exceptions.HTTPError as error:
            message = f"{what}: no answer ({type(error).__name__})"
            raise CodeHostError(message, remedy="check the network and run it again") from error
        if answer.status >= _FIRST_FAILURE:
            raise self._failure(what, answer.status, answer.data)
        return msgspec.json.decode(answer.data) if answer.data.strip() else None

    def pages(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Every item of a list, page by page."""
        for page in range(1, _MOST_PAGES + 1):
            asked = {**query, "per_page": PAGE_ITEMS, "page": page}
            items = self.ask("GET", path, query=asked)
            yield from items
            if len(items) < PAGE_ITEMS:
                return

    def _failure(self, what: str, status: int, data: bytes) -> CodeHostError:
        message = f"{what}: {status}{_said(data)}"
        if status in _REFUSED:
            return CodeHostError(
                message, status=status, remedy=self._remedy, exit_code=ExitCode.AUTHENTICATION
            )
        return CodeHostError(message, status=status)


def _said(data: bytes) -> str:
    """What the host says about a failure, on one short line."""
    try:
        said = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return ""
    text = said.get("message") or said.get("error") if isinstance(said, dict) else ""
    shown = " ".join(str(text or "").split())
    return f" {shown[:200]}" if shown.isprintable() and shown else ""
