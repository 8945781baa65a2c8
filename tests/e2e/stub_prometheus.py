"""A Prometheus of a test's own: every query has one answer, which the test sets."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class StubPrometheus:
    """Answers every query with one number.

    Attributes:
        number: Gives it, each time anew.
    """

    address: str = ""
    number: Callable[[], float] = lambda: 1.0


@contextmanager
def answering() -> Iterator[StubPrometheus]:
    """A Prometheus until the end of the block."""
    stub = StubPrometheus()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            vector = {
                "resultType": "vector",
                "result": [{"metric": {}, "value": [0, str(stub.number())]}],
            }
            body = json.dumps({"status": "success", "data": vector}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
