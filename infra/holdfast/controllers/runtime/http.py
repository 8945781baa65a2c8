"""What others may ask of a controller over HTTP: health, status, metrics, and hooks of a code host.

Source: GitHub, "Validating webhook deliveries"; GitLab, "Webhooks: secret token".
"""

import hashlib
import hmac
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from typing import Any, Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from holdfast.controllers.runtime.bounded_server import BoundedReader, BoundedServer
from holdfast.errors import InputError
from holdfast.kube.text import safe_text

MOST_BYTES: Final = 1 << 20
MOST_HOOKS_A_MINUTE: Final = 60
HOOK: Final = "/hook"
_READ_SECONDS: Final = 10.0
_MINUTE_SECONDS: Final = 60.0
_LONGEST_REASON_CHARACTERS: Final = 1000
_TEXT: Final = "text/plain; charset=utf-8"
_TOKEN: Final = "x-gitlab-token"  # noqa: S105  (the name of a header)
_SIGNATURE: Final = "x-hub-signature-256"

Check = Callable[[], str]
"""Why something is not so; empty when it is."""


def is_let_in(body: bytes, headers: Mapping[str, str], secret: str) -> bool:
    """Whether a hook was signed with the secret; without a secret every hook is let in.

    Args:
        body: As it was sent.
        headers: By name; proxies change the case of names.
        secret: Empty for none.
    """
    if not secret:
        return True
    given = {name.lower(): value for name, value in headers.items()}
    if token := given.get(_TOKEN):
        return _is_equal(token, secret)
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return _is_equal(given.get(_SIGNATURE, ""), f"sha256={digest}")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


class EndpointServer:
    """Answers from a thread of its own until it is closed.

    Attributes:
        port: The port that it listens at.
    """

    def __init__(
        self,
        option: str,
        address: tuple[str, int],
        registry: CollectorRegistry,
        checks: Mapping[str, Check],
    ) -> None:
        """Bind the address; `start` begins to answer.

        Args:
            option: Option of the address, for errors.
            address: Host, empty for all, and port, 0 for a free one.
            registry: Metrics, served at /metrics.
            checks: Path, such as /healthz, to what it asks; a reason is answered with 503.

        Raises:
            InputError: the address is not to be had.
        """
        host, port = address
        self._registry, self._checks = registry, checks
        self._status: Callable[[], Mapping[str, Any]] | None = None
        self._on_hook: Callable[[], None] | None = None
        self._secret = ""
        self._is_private = is_loopback(host)
        self._hooks: deque[float] = deque(maxlen=MOST_HOOKS_A_MINUTE)
        answers = self

        class Handler(_Handler):
            """With what this server answers."""

            server_answers = answers

        try:
            self._server = BoundedServer((host or "0.0.0.0", port), Handler)  # noqa: S104  (asked for)
        except OSError as error:
            raise InputError(
                f"{option} {host}:{port}: {error.strerror}", remedy="choose another address"
            ) from error
        self.port = int(self._server.server_address[1])

    def serve_status(self, status: Callable[[], Mapping[str, Any]]) -> None:
        """Answer /status with a JSON document, to this machine and to bearers of the secret."""
        self._status = status

    def take_hooks(self, on_hook: Callable[[], None], secret: str) -> None:
        """Take hooks that are posted to /hook.

        Args:
            on_hook: Called for each, 60 times a minute at most.
            secret: That they carry or are signed with. Without one, hooks are taken only where
                nobody but this machine reaches the server.
        """
        self._on_hook, self._secret = on_hook, secret

    def start(self) -> None:
        """Begin to answer."""
        threading.Thread(target=self._server.serve_forever, name="http", daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, *, is_trusted: bool) -> tuple[HTTPStatus, str, bytes]:
        """Status, content type and body of a GET."""
        if path == "/metrics":
            return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self._registry)
        if path == "/status" and self._status is not None:
            if not is_trusted:
                return HTTPStatus.FORBIDDEN, _TEXT, b"expected Authorization: Bearer SECRET\n"
            return HTTPStatus.OK, "application/json", json.dumps(self._status(), indent=1).encode()
        if path in self._checks:
            problem = self._checks[path]()
            status = HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK
            return status, _TEXT, safe_text(problem or "ok", _LONGEST_REASON_CHARACTERS).encode()
        paths = [*self._checks, "/metrics", *(["/status"] if self._status else [])]
        return HTTPStatus.NOT_FOUND, _TEXT, f"there is {', '.join(paths)}\n".encode()

    def is_trusted(self, peer: str, headers: Mapping[str, str]) -> bool:
        """Whether a client may read what the controller says of its errors."""
        given = {name.lower(): value for name, value in headers.items()}.get("authorization", "")
        is_known = bool(self._secret) and _is_equal(given, f"Bearer {self._secret}")
        return is_loopback(peer) or is_known

    def refused_hook(self, headers: Mapping[str, str]) -> tuple[HTTPStatus, bytes] | None:
        """Why a hook is not read at all; None when it is."""
        if self._on_hook is None:
            return HTTPStatus.NOT_FOUND, b"no hooks are taken\n"
        if not self._secret and not self._is_private:
            return HTTPStatus.FORBIDDEN, b"no hooks are taken: no secret is set here\n"
        given = {name.lower() for name in headers}
        if self._secret and not given & {_TOKEN, _SIGNATURE}:
            return HTTPStatus.FORBIDDEN, b"the secret is wrong\n"
        length = {name.lower(): value for name, value in headers.items()}.get("content-length", "")
        if not (length.isascii() and length.isdigit()):
            return HTTPStatus.LENGTH_REQUIRED, b"expected a Content-Length\n"
        if len(length) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"too much\n"
        return None

    def take_hook(self, body: bytes, headers: Mapping[str, str]) -> tuple[HTTPStatus, bytes]:
        """Status and body of a POST to /hook."""
        if self._on_hook is None or not is_let_in(body, headers, self._secret):
            return HTTPStatus.FORBIDDEN, b"the secret is wrong\n"
        now = time.monotonic()
        is_full = len(self._hooks) == MOST_HOOKS_A_MINUTE
        if is_full and now - self._hooks[0] < _MINUTE_SECONDS:
            return HTTPStatus.TOO_MANY_REQUESTS, b"too many hooks: the next poll follows\n"
        self._hooks.append(now)
        self._on_hook()
        return HTTPStatus.ACCEPTED, b"accepted\n"


class _Handler(BaseHTTPRequestHandler):
    server_answers: EndpointServer
    timeout = _READ_SECONDS
    server_version = "holdfast"
    sys_version = ""

    def setup(self) -> None:
        """Read a bounded request."""
        super().setup()
        self._bounded = BoundedReader(self.rfile)
        self.rfile = self._bounded

    def do_GET(self) -> None:
        """Answer with health, status or metrics."""
        headers = dict(self.headers.items())
        is_trusted = self.server_answers.is_trusted(self.client_address[0], headers)
        self._send(*self.server_answers.answer(self.path.partition("?")[0], is_trusted=is_trusted))

    def do_POST(self) -> None:
        """Take a hook."""
        if self.path.partition("?")[0] != HOOK:
            self._send(HTTPStatus.NOT_FOUND, _TEXT, f"there is {HOOK}\n".encode())
            return
        headers = dict(self.headers.items())
        if refused := self.server_answers.refused_hook(headers):
            self._send(refused[0], _TEXT, refused[1])
            return
        length = int(self.headers["Content-Length"])
        self._bounded.allow(length)
        body = self.rfile.read(length)
        status, answer = self.server_answers.take_hook(body, headers)
        self._send(status, _TEXT, answer)

    def log_message(self, *_: object) -> None:
        """Probes ask every few seconds: that is not logged."""

    def _send(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
