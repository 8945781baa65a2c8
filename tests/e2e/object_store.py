"""An object store of a test's own: a server of S3, and before it one that judges the token."""

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.e2e.fleet_project import CLONE

BUCKET = "holdfast-state"
START_SECONDS = 30
EXPIRED = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>ExpiredToken</Code>'
    b"<Message>The provided token has expired.</Message></Error>"
)
_OF_THE_CONNECTION = {"connection", "content-length", "transfer-encoding", "date", "server"}


def store_program() -> Path | None:
    """The server, as `make storetool` builds it; None where it is not built."""
    script = str(CLONE / "toolchain" / "test_tools.py")
    told = subprocess.run(
        [sys.executable, script, "--store", "--print"], capture_output=True, text=True, check=True
    )
    program = Path(told.stdout.strip()) / "gofakes3"
    return program if program.exists() else None


@dataclass
class ObjectStore:
    """A bucket, reached through the server that judges.

    Attributes:
        port: Where clients reach it.
        upstream: Where the real server listens.
        is_expired: The token is refused from now on.
    """

    port: int
    upstream: int
    is_expired: bool = False

    @property
    def url(self) -> str:
        """The bucket, for Pulumi."""
        endpoint = f"http://127.0.0.1:{self.port}"
        return (
            f"s3://{BUCKET}?endpoint={endpoint}&s3ForcePathStyle=true&disableSSL=true"
            "&region=us-east-1"
        )


@contextmanager
def object_store(program: Path) -> Iterator[ObjectStore]:
    """Run a store with one empty bucket, kept in memory, until the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        upstream = int(probe.getsockname()[1])
    flags = ["-backend=memory", f"-host=127.0.0.1:{upstream}", f"-initialbucket={BUCKET}"]
    with subprocess.Popen([program, *flags, "-quiet"], env=os.environ) as server:
        try:
            _wait_for(upstream)
            with _judge(upstream) as store:
                yield store
        finally:
            server.terminate()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline, "the store does not answer"
            time.sleep(0.1)
        else:
            return


@contextmanager
def _judge(upstream: int) -> Iterator[ObjectStore]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def handle_request(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if store.is_expired:
                self.answer(403, {"Content-Type": "application/xml"}, EXPIRED)
                return
            connection = http.client.HTTPConnection("127.0.0.1", upstream, timeout=START_SECONDS)
            try:
                connection.request(self.command, self.path, body, dict(self.headers.items()))
                response = connection.getresponse()
                told = response.read()
                self.answer(response.status, dict(response.getheaders()), told)
            finally:
                connection.close()

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request  # noqa: N815  (names that the library asks for)

        def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            length = headers.get("Content-Length", str(len(body)))
            for name, value in headers.items():
                if name.lower() not in _OF_THE_CONNECTION:
                    self.send_header(name, value)
            self.send_header("Content-Length", length if self.command == "HEAD" else str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        store = ObjectStore(server.server_port, upstream)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield store
        finally:
            server.shutdown()
