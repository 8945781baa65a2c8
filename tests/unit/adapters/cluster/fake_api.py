"""An API server that answers what a test tells it to, on the loopback interface."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection


@dataclass
class Answer:
    """One response: a body, a status, headers.

    `hang_up` closes the connection instead; `hold` keeps it open and silent until it is set.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False
    hold: threading.Event | None = None


@dataclass
class FakeApi:
    """Answers by path: the first answers are used up, the last one stays.

    A path that ends in `?watch` answers its watches alone.

    Attributes:
        requests: Method, path, query and body of every request so far.
    """

    url: str = ""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)

    def on(self, path: str, *answers: Answer) -> None:
        """Say what a path answers."""
        self.answers[path] = list(answers)

    def client(self, **connection: Any) -> ApiClient:
        """A client of this server."""
        return ApiClient(Connection(self.url, **connection))

    def paths(self) -> list[str]:
        """Paths asked for so far."""
        return [path for _, path, _, _ in self.requests]


def page(*items: dict[str, Any], more: str = "", remaining: int | None = None) -> Answer:
    """One page of a list."""
    metadata: dict[str, Any] = {"continue": more, "resourceVersion": "1"}
    if remaining is not None:
        metadata["remainingItemCount"] = remaining
    return Answer({"kind": "List", "metadata": metadata, "items": list(items)})


def failure(status: int, reason: str = "no") -> Answer:
    """A refusal in the server's own words."""
    return Answer({"kind": "Status", "message": reason, "code": status}, status)


@contextmanager
def fake_api() -> Iterator[FakeApi]:
    """Run one for the length of a test."""
    api = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def respond(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            length = int(self.headers.get("Content-Length") or 0)
            api.requests.append((self.command, parts.path, query, self.rfile.read(length)))
            api.accepted.append(self.headers.get("Accept", ""))
            api.tokens.append(self.headers.get("Authorization", ""))
            path = f"{parts.path}?watch" if "watch" in query else parts.path
            waiting = api.answers.get(path) or api.answers.get(parts.path)
            waiting = waiting or [failure(404, "not found")]
            answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            if answer.hang_up:
                self.close_connection = True
                self.connection.close()
                return
            is_raw = isinstance(answer.body, bytes)
            body = answer.body if is_raw else json.dumps(answer.body).encode()
            sizes = {"Content-Length": str(len(body))} if answer.hold is None else {}
            self.send_response(answer.status)
            for name, value in {**sizes, **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if answer.hold is not None:
                answer.hold.wait(20)
            self.wfile.write(body)

        do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = respond  # noqa: N815  (names that the library asks for)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a hang-up is wanted
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
