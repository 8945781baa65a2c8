"""Requests to one API server: pooled connections, retries for reads, errors with a remedy.

Bodies stay bytes: who asks decodes what it needs. Nothing here knows what is asked for.
"""

import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import urllib3

from holdfast import __version__
from holdfast.adapters.cluster.api_error import (
    ApiError,
    UnreachableError,
    asked_seconds,
    refused_login,
)
from holdfast.adapters.cluster.backoff import ConcurrencyLimiter, request_wait_seconds
from holdfast.adapters.cluster.bodies import LineStream, whole_body
from holdfast.adapters.cluster.kubeconfig import Connection, tls_context
from holdfast.errors import ClusterError, LoginError

CONNECT_TIMEOUT_SECONDS: Final = 5.0
READ_TIMEOUT_SECONDS: Final = 30.0
MAX_TRIES: Final = 5
LONGEST_ANSWER_SECONDS: Final = 60.0
"""For one read with all its tries: a server that sends a byte a second never stops it short."""
CONNECTIONS: Final = 8

JSON: Final = "application/json"
KEEP_ALIVE: Final = (
    *urllib3.connection.HTTPConnection.default_socket_options,
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4))
        if hasattr(socket, name)
    ),
)
"""A peer that vanished without a word is noticed within a minute, where the system can."""

Answered = TypeVar("Answered")
_SHORTEST_TIMEOUT_SECONDS: Final = 0.001
_UNAUTHORISED: Final = 401
_FIRST_FAILURE: Final = 300
_WORTH_A_RETRY: Final = frozenset({429, 500, 502, 503, 504})


class ApiClient:
    """Talks to one API server; safe to use from several threads.

    Attributes:
        pace: How many requests may be under way.
        sent: How many requests were sent, each try counted.
        deadline: Monotonic time at which every request is over, all its tries included.
        stopping: Set when no retry is to be waited for any more.
        write_hindrance: Asked before each write is sent: why it must not be; empty for nothing.
    """

    def __init__(
        self,
        connection: Connection,
        answer_seconds: float = LONGEST_ANSWER_SECONDS,
        log_in_again: Callable[[], Connection] | None = None,
    ) -> None:
        """Prepare to talk; nothing is sent yet.

        Args:
            connection: To which server, as whom.
            answer_seconds: No read takes longer, with all its tries.
            log_in_again: Reads the connection again when its token is no longer accepted: tokens of
                login plugins last for minutes.
        """
        self.connection = connection
        self._log_in_again = log_in_again
        self._renewing = threading.Lock()
        self._counting = threading.Lock()
        self.sent = 0
        self._answer_seconds = answer_seconds
        self.limiter = ConcurrencyLimiter(CONNECTIONS)
        self.deadline = math.inf
        self.stopping = threading.Event()
        self._write_refusal = ""
        self.write_hindrance: Callable[[], str] = str
        self._token = connection.token
        self._tls = tls_context(connection)
        self._pool = self._new_pool(maxsize=CONNECTIONS, block=True)
        if not self._token and connection.token_file:
            self._read_token()

    def _new_pool(self, **settings: Any) -> urllib3.PoolManager:  # noqa: ANN401  (passed on)
        name = self.connection.server_name or None
        return urllib3.PoolManager(
            retries=False,
            ssl_context=self._tls,
            server_hostname=name,
            assert_hostname=name,
            **settings,
        )

    @cached_property
    def _stream_pool(self) -> urllib3.PoolManager:
        """Streams last: they have connections of their own, which notice a peer that is gone."""
        return self._new_pool(maxsize=1, socket_options=KEEP_ALIVE)

    def stop_waiting(self) -> None:
        """Wait for no retry from now on; from any thread, and from a signal handler."""
        self.stopping.set()

    def refuse_writes(self, reason: str) -> None:
        """Send no write from now on: this process is no longer the one that may write."""
        self._write_refusal = reason
        self.stop_waiting()

    def get(
        self, path: str, query: Mapping[str, str | int] | None = None, accept: str = JSON
    ) -> bytes:
        """Body of a read; short failures of the server are waited out.

        Raises:
            LoginError: the credentials are not accepted.
            ApiError: any other failure.
            UnreachableError: no answer, or none to the end.
        """
        headers = {"Accept": accept, "Accept-Encoding": "gzip"}
        return self._tried(
            lambda end: self._request(_Sending("GET", path, query, headers), end),
            lambda error: not isinstance(error, ApiError) or error.status in _WORTH_A_RETRY,
        )

    def get_proxied(self, path: str, most_bytes: int) -> bytes:
        """Body of what something behind the API server answers: it is trusted with nothing.

        It is read uncompressed, in one try.

        Raises:
            LoginError: the credentials are not accepted.
            ApiError: any other failure.
            UnreachableError: no answer, too large a one, or none to the end.
        """
        headers = {"Accept": JSON, "Accept-Encoding": "identity"}
        end = min(time.monotonic() + self._answer_seconds, self.deadline)
        with self._turn(end):
            return self._request(_Sending("GET", path, None, headers), end, most_bytes)

    def open_stream(
        self, path: str, query: Mapping[str, str | int], accept: str, silence_seconds: float
    ) -> LineStream:
        """The lines of an answer without an end; one try.

        Raises:
            LoginError: the credentials are not accepted.
            ApiError: the server refused.
            UnreachableError: no answer.
        """
        timeout = urllib3.Timeout(connect=CONNECT_TIMEOUT_SECONDS, read=silence_seconds)
        sending = _Sending("GET", path, query, {"Accept": accept}, timeout)
        response = self._answer_to(sending, self._stream_pool, self._answer_seconds)
        return LineStream(response, silence_seconds)

    def write(
        self,
        method: str,
        path: str,
        body: bytes,
        *,
        content_type: str,
        query: Mapping[str, str | int] | None = None,
        is_patient: bool = True,
    ) -> bytes:
        """Body of the answer to one write; repeated only where the server has not begun it.

        Args:
            method: Of the request.
            path: Of the request.
            body: What is sent.
            content_type: Of the body.
            query: Of the request.
            is_patient: Wait as long as an overloaded server asks for (429 with Retry-After), and
                try again.

        Raises:
            LoginError: the credentials are not accepted.
            ApiError: the server refused.
            UnreachableError: no answer: whether it was done is not known.
            ClusterError: this process may no longer write.
        """
        headers = {"Accept": JSON, "Content-Type": content_type}

        def send(end: float) -> bytes:
            if reason := self._write_refusal or self.write_hindrance():
                raise ClusterError(f"{method} {path} is not sent: {reason}")
            return self._request(_Sending(method, path, query, headers, body=body), end)

        def is_retried(error: ClusterError) -> bool:
            is_asked = isinstance(error, ApiError) and error.is_too_much
            return is_patient and is_asked and bool(asked_seconds(error))

        return self._tried(send, is_retried)

    def _tried(
        self, send: Callable[[float], bytes], is_retried: Callable[[ClusterError], bool]
    ) -> bytes:
        """The answer of the first try that succeeds; everything ends at the deadline."""
        end = min(time.monotonic() + self._answer_seconds, self.deadline)
        for failures in count(1):
            try:
                with self._turn(end):
                    answer = send(end)
            except (ApiError, UnreachableError) as error:
                if isinstance(error, ApiError) and error.is_too_much:
                    self.limiter.slow_down()
                wait = request_wait_seconds(failures, asked_seconds(error))
                is_last = failures == MAX_TRIES or time.monotonic() + wait > end
                if is_last or not is_retried(error) or self.stopping.wait(wait):
                    raise
            else:
                self.limiter.note_success()
                return answer
        raise AssertionError  # the last try returns or raises

    @contextmanager
    def _turn(self, end: float) -> Iterator[None]:
        with ExitStack() as held:
            try:
                held.enter_context(self.limiter.acquire(end))
            except TimeoutError as error:
                raise UnreachableError(
                    f"{self.connection.server} answers too slowly: {error}"
                ) from error
            yield

    def _request(self, wanted: "_Sending", end: float, most_bytes: float = math.inf) -> bytes:
        left = max(_SHORTEST_TIMEOUT_SECONDS, end - time.monotonic())
        timeout = urllib3.Timeout(
            connect=min(CONNECT_TIMEOUT_SECONDS, left), read=min(READ_TIMEOUT_SECONDS, left)
        )
        sending = replace(wanted, timeout=timeout)
        response = self._answer_to(sending, self._pool, left)
        left = max(_SHORTEST_TIMEOUT_SECONDS, end - time.monotonic())
        if most_bytes < math.inf and response.headers.get("Content-Encoding", "") != "":
            response.close()
            raise UnreachableError(f"GET {sending.path}: the answer is compressed, unasked")
        return self._read(lambda: whole_body(response, left, most_bytes))

    def _answer_to(
        self, sending: "_Sending", pool: urllib3.PoolManager, longest_seconds: float
    ) -> urllib3.BaseHTTPResponse:
        """An answer that is no failure, its body unread."""
        used = self._token
        response = self._read(lambda: self._send(sending, pool))
        if response.status == _UNAUTHORISED and self._renew_token(used):
            response.drain_conn()
            response = self._read(lambda: self._send(sending, pool))
        if response.status < _FIRST_FAILURE:
            return response
        body = self._read(lambda: whole_body(response, longest_seconds))
        if response.status == _UNAUTHORISED:
            raise refused_login(self.connection)
        raise ApiError.of(sending.method, sending.path, response, body)

    def _send(self, sending: "_Sending", pool: urllib3.PoolManager) -> urllib3.BaseHTTPResponse:
        query = f"?{urlencode(sending.query)}" if sending.query else ""
        headers = {"User-Agent": f"holdfast/{__version__}", **sending.headers}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        with self._counting:
            self.sent += 1
        return pool.request(
            sending.method,
            self.connection.server + sending.path + query,
            body=sending.body,
            headers=headers,
            preload_content=False,
            timeout=sending.timeout,
        )

    def _read(self, work: Callable[[], Answered]) -> Answered:
        try:
            return work()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            cause = getattr(error, "reason", None) or error
            raise UnreachableError(
                f"no answer from {self.connection.server}: {type(cause).__name__}",
                remedy="check that the cluster runs and that the context names the right one",
            ) from error

    def _renew_token(self, used: str) -> bool:
        """Get a new token, once for all threads; whether it is another than the one used."""
        with self._renewing:
            if self._token == used:
                if self.connection.token_file:
                    self._read_token()  # a mounted token is replaced on disk before it expires
                elif used and self._log_in_again is not None:
                    self._token = self._log_in_again().token
            return self._token != used

    def _read_token(self) -> None:
        try:
            self._token = Path(self.connection.token_file).read_text().strip()
        except OSError as error:
            raise LoginError(f"{self.connection.token_file}: {error.strerror}") from error


def path_of(api_version: str, plural: str, namespace: str = "", name: str = "") -> str:
    """URL path of a kind's objects, in a namespace or of the whole cluster, or of one of them."""
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    parts = [root]
    if namespace:
        parts += ["namespaces", quote(namespace, safe="")]
    parts.append(plural)
    if name:
        parts.append(quote(name, safe=""))
    return "/".join(parts)


@dataclass(frozen=True)
class _Sending:
    """One request."""

    method: str
    path: str
    query: Mapping[str, str | int] | None
    headers: Mapping[str, str]
    timeout: urllib3.Timeout | None = None
    body: bytes | None = None
