"""What others may ask of a reconciler over HTTP: hooks of a code host, health, status, metrics.

Source: GitHub, "Validating webhook deliveries"; GitLab, "Webhooks: secret token".
"""

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from holdfast.errors import InputError

MOST_BYTES: Final = 1 << 20
_READ_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Answers:
    """What is answered.

    Attributes:
        on_hook: Called for every hook that is let in.
        is_alive: Whether the loop goes on.
        status: What is known, as JSON.
        metrics: In Prometheus' text format.
    """

    on_hook: Callable[[], None]
    is_alive: Callable[[], bool]
    status: Callable[[], Mapping[str, Any]]
    metrics: Callable[[], bytes]


def is_let_in(body: bytes, headers: Mapping[str, str], secret: str) -> bool:
    """Whether a hook comes from somebody who knows the secret; everybody does without one."""
    if not secret:
        return True
    if token := headers.get("X-Gitlab-Token"):
        return hmac.compare_digest(token.encode(), secret.encode())
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    given = headers.get("X-Hub-Signature-256", "")
    return hmac.compare_digest(given.encode(), f"sha256={digest}".encode())


class HookServer:
    """Answers from a thread of its own until it is closed."""

    def __init__(self, host: str, port: int, answers: Answers, secret: str = "") -> None:
        """Begin to answer.

        Args:
            host: Address to listen at.
            port: 0 for a free one.
            answers: What is answered.
            secret: Shared with the code host; empty for none.

        Raises:
            InputError: the address is not to be had.
        """

        class Handler(_Handler):
            """With what this server answers."""

        Handler.answers, Handler.secret = answers, secret
        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except OSError as error:
            raise InputError(
                f"--listen {host}:{port}: {error.strerror}", remedy="choose another address"
            ) from error
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    answers: Answers
    secret: str
    timeout = _READ_SECONDS
    server_version = "holdfast"
    sys_version = ""

    def do_POST(self) -> None:
        """Take a hook."""
        if self.path.partition("?")[0] != "/hook":
            self._say(404, b"there is /hook\n")
            return
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            self._say(413, b"too much\n")
            return
        body = self.rfile.read(int(length))
        if not is_let_in(body, dict(self.headers.items()), self.secret):
            self._say(403, b"the secret is wrong\n")
            return
        self.answers.on_hook()
        self._say(202, b"on it\n")

    def do_GET(self) -> None:
        """Tell health, status or metrics."""
        path = self.path.partition("?")[0]
        if path == "/healthz":
            is_alive = self.answers.is_alive()
            self._say(200 if is_alive else 503, b"ok\n" if is_alive else b"the loop is stuck\n")
        elif path == "/status":
            text = json.dumps(self.answers.status(), indent=1) + "\n"
            self._say(200, text.encode(), "application/json")
        elif path == "/metrics":
            self._say(200, self.answers.metrics(), "text/plain; version=0.0.4")
        else:
            self._say(404, b"there is /healthz, /status, /metrics, and /hook to post to\n")

    def log_message(self, *_: object) -> None:
        """Say nothing: the loop has a log of its own."""

    def _say(self, code: int, body: bytes, kind: str = "text/plain") -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
