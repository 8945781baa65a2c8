"""A channel of Slack: a real server that takes the messages of an incoming webhook."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Channel:
    """What was sent, and what is answered."""

    url: str = ""
    status: int = 200
    messages: list[dict[str, Any]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """The title and the lines of each message."""
        return [
            "\n".join(block["text"]["text"] for block in message["blocks"])
            for message in self.messages
        ]


@contextmanager
def taking_messages() -> Iterator[Channel]:
    """A channel for as long as a test runs."""
    channel = Channel()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            channel.messages.append(json.loads(body))
            self.send_response(channel.status)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    channel.url = f"http://127.0.0.1:{server.server_port}/services/T0/B0/sEcReT"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield channel
    finally:
        server.shutdown()
        server.server_close()
