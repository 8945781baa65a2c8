"""Git over HTTP on the loopback: Git's own server program behind Python's HTTP server."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class _Handler(BaseHTTPRequestHandler):
    """Runs `git http-backend` for each request, as a web server would by CGI (RFC 3875)."""

    root: Path

    def do_GET(self) -> None:
        """Refs and objects."""
        self._answer(b"")

    def do_POST(self) -> None:
        """What a fetch wants."""
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        variables = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            capture_output=True,
            check=True,
            env=os.environ | variables,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def git_server(root: Path) -> Iterator[str]:
    """Serve the repositories of a folder, for reading; the address of the folder."""

    class Handler(_Handler):
        """With that folder."""

    Handler.root = root
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
