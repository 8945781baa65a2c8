"""A real HTTP server on the loopback address that answers what a test says."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class StubServer:
    """What it answers by path, and what it was sent."""

    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    headers: list[dict[str, str]] = field(default_factory=list)
    posted: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def says(self, path: str, document: Any, status: int = 200) -> None:
        """Answer a path with a JSON document, or with bytes as they are."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.answers[path] = (status, body)


@contextmanager
def stub_server() -> Iterator[StubServer]:
    """The server, for the length of a test."""
    stub = StubServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            stub.headers.append(dict(self.headers.items()))
            status, body = stub.answers.get(self.path, (404, b"{}"))
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", body.decode())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            stub.posted.append(dict(self.headers.items()))
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
