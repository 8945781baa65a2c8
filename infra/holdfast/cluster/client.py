"""Requests to one API server: pooled connections, retries for reads, errors with a remedy.

Bodies stay bytes: who asks decodes what it needs. Nothing here knows what is asked for.
"""

import json
import ssl
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import urllib3

from holdfast import __version__
from holdfast.cluster.kubeconfig import Connection
from holdfast.errors import ClusterError, LoginError

CONNECT_TIMEOUT_SECONDS: Final = 5.0
READ_TIMEOUT_SECONDS: Final = 30.0
MAX_TRIES: Final = 5
FIRST_WAIT_SECONDS: Final = 0.2
LONGEST_WAIT_SECONDS: Final = 10.0
CONNECTIONS: Final = 8

JSON: Final = "application/json"
_UNAUTHORISED, _FORBIDDEN, _NOT_FOUND, _CONFLICT, _GONE = 401, 403, 404, 409, 410
_FIRST_FAILURE: Final = 300
_WORTH_A_RETRY: Final = frozenset({429, 500, 502, 503, 504})


class ApiError(ClusterError):
    """The API server answered with a failure.

    Attributes:
        status: HTTP status code.
        reason: The server's own words.
        wait_seconds: How long the server asks to be left alone; 0 when it does not say.
    """

    status: int = 0
    reason: str = ""
    wait_seconds: float = 0.0

    @classmethod
    def of(cls, method: str, path: str, response: urllib3.BaseHTTPResponse) -> "ApiError":
        """Error of one refused request."""
        # The server quotes what it refuses, and of a Secret that may be its value.
        reason = "" if "/secrets" in path else _reason_in(response.data)
        remedy = ""
        if response.status == _FORBIDDEN:
            remedy = "grant these credentials the verb on this resource"
        error = cls(f"{method} {path}: {response.status} {reason}".rstrip(), remedy=remedy)
        error.status, error.reason = response.status, reason
        asked = response.headers.get("Retry-After", "")
        error.wait_seconds = float(asked) if asked.isdigit() else 0.0
        return error

    @property
    def is_forbidden(self) -> bool:
        """The credentials may not do this."""
        return self.status == _FORBIDDEN

    @property
    def is_absent(self) -> bool:
        """There is no such object, or no such kind."""
        return self.status == _NOT_FOUND

    @property
    def is_conflict(self) -> bool:
        """Somebody has written since the version that was read."""
        return self.status == _CONFLICT

    @property
    def is_expired(self) -> bool:
        """The list cannot be continued where it stopped."""
        return self.status == _GONE


class UnreachableError(ClusterError):
    """No answer from the API server."""


class ApiClient:
    """Talks to one API server; safe to use from several threads."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._token = connection.token
        self._pool = urllib3.PoolManager(
            maxsize=CONNECTIONS,
            block=True,
            retries=False,
            timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT_SECONDS, read=READ_TIMEOUT_SECONDS),
            ssl_context=_tls_context(connection),
            server_hostname=connection.server_name or None,
            assert_hostname=connection.server_name or None,
        )
        if not self._token and connection.token_file:
            self._read_token()

    def get(
        self, path: str, query: Mapping[str, str | int] | None = None, accept: str = JSON
    ) -> bytes:
        """Body of a read; short failures of the server are waited out.

        Raises:
            LoginError: the credentials are not accepted.
            ApiError: any other failure.
            UnreachableError: no answer.
        """
        wait = FIRST_WAIT_SECONDS
        for _ in range(MAX_TRIES - 1):
            try:
                return self._request("GET", path, query, {"Accept": accept})
            except ApiError as error:
                if error.status not in _WORTH_A_RETRY:
                    raise
                wait = error.wait_seconds or wait
            except UnreachableError:
                pass
            time.sleep(min(wait, LONGEST_WAIT_SECONDS))
            wait *= 2
        return self._request("GET", path, query, {"Accept": accept})

    def write(
        self,
        method: str,
        path: str,
        body: bytes,
        *,
        content_type: str,
        query: Mapping[str, str | int] | None = None,
    ) -> bytes:
        """Body of the answer to one write; never repeated.

        Raises:
            LoginError: the credentials are not accepted.
            ApiError: the server refused.
            UnreachableError: no answer: whether it was done is not known.
        """
        headers = {"Accept": JSON, "Content-Type": content_type}
        return self._request(method, path, query, headers, body)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int] | None,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> bytes:
        url = self.connection.server + path + (f"?{urlencode(query)}" if query else "")
        response = self._send(method, url, headers, body)
        if response.status == _UNAUTHORISED and self.connection.token_file:
            self._read_token()  # a mounted token is replaced on disk before it expires
            response = self._send(method, url, headers, body)
        if response.status < _FIRST_FAILURE:
            return response.data
        raise _error_of(method, path, response, self.connection)

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> urllib3.BaseHTTPResponse:
        sent = {"User-Agent": f"holdfast/{__version__}", **headers}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        try:
            return self._pool.request(method, url, body=body, headers=sent)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            cause = getattr(error, "reason", None) or error
            raise UnreachableError(
                f"no answer from {self.connection.server}: {type(cause).__name__}",
                remedy="check that the cluster runs and that the context names the right one",
            ) from error

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


def _tls_context(connection: Connection) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=connection.authority or None)
    if not connection.is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if connection.certificate:
        # The library reads certificates from files only; the file lives for this one call.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(connection.certificate.rstrip() + "\n" + connection.key)
            file.flush()
            context.load_cert_chain(file.name)
    return context


def _error_of(
    method: str, path: str, response: urllib3.BaseHTTPResponse, connection: Connection
) -> ClusterError:
    if response.status != _UNAUTHORISED:
        return ApiError.of(method, path, response)
    where = f"context {connection.context!r}" if connection.context else "this pod's account"
    return LoginError(
        f"{connection.server} does not accept the credentials of {where}",
        remedy="log in again, or choose another context",
    )


def _reason_in(body: bytes) -> str:
    try:
        status = json.loads(body)
    except ValueError:
        return body[:200].decode(errors="replace").strip()
    return str(status.get("message") or "") if isinstance(status, dict) else ""
