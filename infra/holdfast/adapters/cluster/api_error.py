"""What an API server's refusal says, and what its silence is called."""

import json
import re
import traceback
from pathlib import Path
from typing import Final

import urllib3

from holdfast.adapters.cluster.kubeconfig import Connection
from holdfast.errors import ClusterError, HoldfastError, LoginError
from holdfast.kube.text import safe_text

_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_GONE: Final = 410
_UNPROCESSABLE: Final = 422
_TOO_MANY_REQUESTS: Final = 429
_SERVER_FAULT: Final = 500
_MOST_FAULT_CHARACTERS: Final = 300
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")

_LONGEST_REASON: Final = 4000


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
    def of(
        cls, method: str, path: str, response: urllib3.BaseHTTPResponse, body: bytes
    ) -> "ApiError":
        """Error of one refused request."""
        # The server quotes what it refuses, and of a Secret that may be its value.
        # Webhooks of others answer in it, too.
        reason = "" if "/secrets" in path else safe_text(_reason_in(body), _LONGEST_REASON)
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
    def is_too_much(self) -> bool:
        """The server is overloaded."""
        return self.status == _TOO_MANY_REQUESTS

    @property
    def may_pass(self) -> bool:
        """The server is overloaded, or ails: it may do the same later."""
        return self.is_too_much or self.status >= _SERVER_FAULT

    @property
    def is_conflict(self) -> bool:
        """The object was written since the version that was read."""
        return self.status == _CONFLICT

    @property
    def is_unprocessable(self) -> bool:
        """Not a valid object, or a test of a JSON patch that failed: the server does not say."""
        return self.status == _UNPROCESSABLE

    def as_conflict(self) -> "ApiError":
        """The same refusal, known to come from a write in between."""
        error = type(self)(
            f"{self.message}: another client has written in between", remedy=self.remedy
        )
        error.status, error.reason = _CONFLICT, self.reason
        return error

    @property
    def is_expired(self) -> bool:
        """The list cannot be continued where it stopped."""
        return self.status == _GONE


class UnreachableError(ClusterError):
    """No answer from the API server."""


def asked_seconds(error: ClusterError) -> float:
    """How long the server asks to be left alone; 0 when it does not say."""
    return error.wait_seconds if isinstance(error, ApiError) else 0.0


class BrokenStreamError(ClusterError):
    """A stream ended in the middle, or said what cannot be read; it can go on where it was."""


class SilentStreamError(BrokenStreamError):
    """A stream is open and says nothing: the other end may be gone."""


class ExpiredError(ClusterError):
    """The server no longer has the version at which a watch should go on: only a LIST helps."""


def refused_login(connection: Connection) -> LoginError:
    """The error of credentials that are not accepted."""
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


def fault_text(error: BaseException) -> str:
    """One line about an exception, for a log; what it quotes may be a secret and is left out.

    Errors of Holdfast are written for people and hold no secret: they stay as they are.
    """
    if isinstance(error, HoldfastError):
        return str(error)
    message = safe_text(_QUOTED.sub("'...'", str(error)), _MOST_FAULT_CHARACTERS)
    where = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({Path(each.filename).name}:{each.lineno})" for each in where)
    return f"{type(error).__name__}: {message}{place}"
