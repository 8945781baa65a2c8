"""What others may ask of a controller over HTTP: health, status, metrics, and hooks of a code host.

Source: GitHub, "Validating webhook deliveries"; GitLab, "Webhooks: secret token".
"""

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from holdfast.errors import InputError

MOST_BYTES: Final = 1 << 20
HOOK: Final = "/hook"
_READ_SECONDS: Final = 10.0
_TEXT: Final = "text/plain; charset=utf-8"

Check = Callable[[], str]
"""Why something is not so; empty when it is."""


def is_let_in(body: bytes, headers: Mapping[str, str], secret: str) -> bool:
    """Whether a hook was signed with the secret; without a secret every hook is let in."""
    if not secret:
        return True
    if token := headers.get("X-Gitlab-Token"):
        return hmac.compare_digest(token.encode(), secret.encode())
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    given = headers.get("X-Hub-Signature-256", "")
    return hmac.compare_digest(given.encode(), f"sha256={digest}".encode())


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
        answers = self

        class Handler(_Handler):
            """With what this server answers."""

            server_answers = answers

        try:
            self._server = ThreadingHTTPServer((host or "0.0.0.0", port), Handler)  # noqa: S104  (asked for)
        except OSError as error:
            raise InputError(
                f"{option} {host}:{port}: {error.strerror}", remedy="choose another address"
            ) from error
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])

    def serve_status(self, status: Callable[[], Mapping[str, Any]]) -> None:
        """Answer /status with a JSON document."""
        self._status = status

    def take_hooks(self, on_hook: Callable[[], None], secret: str) -> None:
        """Take hooks that are posted to /hook, those with the secret where one is given."""
        self._on_hook, self._secret = on_hook, secret

    def start(self) -> None:
        """Begin to answer."""
        threading.Thread(target=self._server.serve_forever, name="http", daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Status, content type and body of a GET."""
        if path == "/metrics":
            return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self._registry)
        if path == "/status" and self._status is not None:
            return HTTPStatus.OK, "application/json", json.dumps(self._status(), indent=1).encode()
        if path in self._checks:
            problem = self._checks[path]()
            status = HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK
            return status, _TEXT, (problem or "ok").encode()
        paths = [*self._checks, "/metrics", *(["/status"] if self._status else [])]
        return HTTPStatus.NOT_FOUND, _TEXT, f"there is {', '.join(paths)}\n".encode()

    def take_hook(self, body: bytes, headers: Mapping[str, str]) -> tuple[HTTPStatus, bytes]:
        """Status and body of a POST to /hook."""
        if self._on_hook is None:
            return HTTPStatus.NOT_FOUND, b"no hooks are taken\n"
        if not is_let_in(body, headers, self._secret):
            return HTTPStatus.FORBIDDEN, b"the secret is wrong\n"
        self._on_hook()
        return HTTPStatus.ACCEPTED, b"accepted\n"


class _Handler(BaseHTTPRequestHandler):
    server_answers: EndpointServer
    timeout = _READ_SECONDS
    server_version = "holdfast"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with health, status or metrics."""
        self._send(*self.server_answers.answer(self.path.partition("?")[0]))

    def do_POST(self) -> None:
        """Take a hook."""
        if self.path.partition("?")[0] != HOOK:
            self._send(HTTPStatus.NOT_FOUND, _TEXT, f"there is {HOOK}\n".encode())
            return
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TEXT, b"too much\n")
            return
        body = self.rfile.read(int(length))
        status, answer = self.server_answers.take_hook(body, dict(self.headers.items()))
        self._send(status, _TEXT, answer)

    def log_message(self, *_: object) -> None:
        """Probes ask every few seconds: that is not logged."""

    def _send(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
