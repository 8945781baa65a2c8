"""What others ask the operator over HTTP: whether it lives, is ready, and what it counted."""

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from holdfast.errors import InputError

Check = Callable[[], str]
"""Why something is not so; empty when it is."""


def serve(
    host: str, port: int, registry: CollectorRegistry, checks: dict[str, Check]
) -> tuple[int, Callable[[], None]]:
    """Serve `/metrics` and each check at its path, from a thread of its own.

    Args:
        host: Address to listen at; empty for all.
        port: 0 chooses a free one.
        registry: Metrics.
        checks: Path, such as `/healthz`, to what it asks; a reason is answered with 503.

    Returns:
        The port, and what ends it.

    Raises:
        InputError: the address is not to be had.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/metrics":
                self._answer(HTTPStatus.OK, generate_latest(registry), CONTENT_TYPE_LATEST)
            elif self.path in checks:
                problem = checks[self.path]()
                status = HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK
                self._answer(status, (problem or "ok").encode(), "text/plain; charset=utf-8")
            else:
                self._answer(HTTPStatus.NOT_FOUND, b"", "text/plain; charset=utf-8")

        def _answer(self, status: HTTPStatus, body: bytes, content_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base's name)
            """Probes ask every few seconds: they are not told of."""

    try:
        server = ThreadingHTTPServer((host or "0.0.0.0", port), Handler)  # noqa: S104  (asked for)
    except OSError as error:
        raise InputError(
            f"--address {host}:{port}: {error.strerror}", remedy="choose another address"
        ) from error
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="endpoints", daemon=True).start()
    return int(server.server_address[1]), server.shutdown
