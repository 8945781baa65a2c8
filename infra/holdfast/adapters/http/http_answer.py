"""One bounded GET of a JSON document, for probes of things that are no Kubernetes objects.

Bounded in bytes, in nesting, and in time as a whole: a server that sends a byte now and then keeps
no scan waiting.
"""

import http.client
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Final
from urllib.parse import urlsplit

from holdfast.adapters.http.peers import is_loopback_url
from holdfast.errors import HoldfastError
from holdfast.kube.nesting import is_deeper_than
from holdfast.kube.text import safe_text

LARGEST_ANSWER_BYTES: Final = 1024 * 1024
DEEPEST_ANSWER: Final = 64
TIMEOUT_SECONDS: Final = 10.0
_CHUNK_BYTES: Final = 1 << 16


class UnansweredError(HoldfastError):
    """What was asked did not answer, or not in JSON. Says nothing that a header held."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry credentials to a host that is not declared."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Follow none."""


class _Deadline:
    """Ends the connections of one request when its time is over.

    Attributes:
        is_over: Whether it has.
    """

    def __init__(self) -> None:
        self._connections: list[http.client.HTTPConnection] = []
        self._sockets: list[socket.socket] = []
        self.is_over = False

    def connection(self, *args: Any, **settings: Any) -> http.client.HTTPConnection:  # noqa: ANN401
        """A plain connection."""
        return self._ended(http.client.HTTPConnection(*args, **settings))

    def tls_connection(self, *args: Any, **settings: Any) -> http.client.HTTPConnection:  # noqa: ANN401
        """A connection with TLS."""
        return self._ended(http.client.HTTPSConnection(*args, **settings))

    def end(self) -> None:
        """End every connection; from another thread."""
        self.is_over = True
        open_now = [each.sock for each in self._connections if each.sock is not None]
        for each in {*self._sockets, *open_now}:
            with suppress(OSError):
                # Not that of TLS, which is for the thread that reads.
                socket.socket.shutdown(each, socket.SHUT_RDWR)

    def _ended(self, connection: http.client.HTTPConnection) -> http.client.HTTPConnection:
        connect = connection.connect

        def kept() -> None:
            connect()
            # An answer takes the socket over from its connection.
            self._sockets.append(connection.sock)

        connection.connect = kept  # type: ignore[method-assign]  # of this one alone
        self._connections.append(connection)
        return connection


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Ask without TLS."""
        opened: http.client.HTTPResponse = self.do_open(self._deadline.connection, req)
        return opened


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Ask with TLS, by the authorities of this machine."""
        opened: http.client.HTTPResponse = self.do_open(self._deadline.tls_connection, req)
        return opened


@contextmanager
def _deadline(seconds: float) -> Iterator[_Deadline]:
    deadline = _Deadline()
    timer = threading.Timer(seconds, deadline.end)
    timer.daemon = True
    timer.start()
    try:
        yield deadline
    finally:
        timer.cancel()


def get_json(url: str, headers: Mapping[str, str], timeout_seconds: float = TIMEOUT_SECONDS) -> Any:  # noqa: ANN401  (any JSON value)
    """What stands at an address.

    Args:
        url: An http or https address.
        headers: Sent with the request, never shown.
        timeout_seconds: When the whole answer must be here.

    Raises:
        UnansweredError: no connection, no success, a redirect, too much, too deep, or no JSON.
    """
    place = place_of(url)
    if not url.startswith(("http://", "https://")):
        raise UnansweredError(f"{place}: expected an http or https address")
    with _deadline(timeout_seconds) as deadline:
        try:
            body = _body(url, headers, timeout_seconds, deadline)
        except (OSError, HTTPException, ValueError) as error:
            if deadline.is_over:
                raise UnansweredError(
                    f"{place} gives no whole answer within {timeout_seconds:g} s"
                ) from error
            raise UnansweredError(f"{place} {_problem(error)}") from error
    if deadline.is_over:
        raise UnansweredError(f"{place} gives no whole answer within {timeout_seconds:g} s")
    if len(body) > LARGEST_ANSWER_BYTES:
        raise UnansweredError(f"{place} answers more than {LARGEST_ANSWER_BYTES} bytes")
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnansweredError(f"{place} answers no JSON") from error
    if is_deeper_than(answer, DEEPEST_ANSWER):
        raise UnansweredError(f"{place} answers with more than {DEEPEST_ANSWER} levels of nesting")
    return answer


def place_of(url: str) -> str:
    """An address as it may be shown: without a user, a password or a query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that is none"
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    return safe_text(shown.geturl(), 300)


def _body(
    url: str, headers: Mapping[str, str], timeout_seconds: float, deadline: _Deadline
) -> bytes:
    request = urllib.request.Request(  # noqa: S310  (the scheme was just checked)
        url, headers={"Accept": "application/json", "Accept-Encoding": "identity", **headers}
    )
    handlers: list[urllib.request.BaseHandler] = [
        *(_NoRedirects(), _Http(deadline), _Https(deadline)),
        # What this machine serves itself is for no proxy, whatever the environment says.
        *([urllib.request.ProxyHandler({})] if is_loopback_url(url) else []),
    ]
    end = time.monotonic() + timeout_seconds
    body = bytearray()
    with urllib.request.build_opener(*handlers).open(request, timeout=timeout_seconds) as answer:
        while len(body) <= LARGEST_ANSWER_BYTES and time.monotonic() < end:
            part = answer.read1(_CHUNK_BYTES)
            if not part:
                return bytes(body)
            body += part
    if len(body) <= LARGEST_ANSWER_BYTES:
        deadline.end()
    return bytes(body)


def _problem(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"answers {error.code} {safe_text(error.reason)}"
    if isinstance(error, urllib.error.URLError):
        return f"does not answer: {safe_text(str(error.reason))}"
    return f"does not answer: {type(error).__name__}"
