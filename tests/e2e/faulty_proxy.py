"""A proxy in front of a real API server that does to chosen requests what networks and servers do.

What it lets pass is untouched: the client's own Accept, Authorization and query reach the server,
and what the server streams arrives line by line.
"""

import http.client
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from holdfast.adapters.cluster.kubeconfig import Connection, connection_of, tls_context

STREAM_SECONDS = 60.0
PASSED_ON = (
    *("Accept", "Authorization", "Content-Type", "User-Agent"),
    *("Impersonate-User", "Impersonate-Group"),
)
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: proxy
contexts: [{{name: proxy, context: {{cluster: proxy, user: proxy}}}}]
clusters: [{{name: proxy, cluster: {{server: "{server}"}}}}]
users: [{{name: proxy, user: {{{user}}}}}]
"""


@dataclass(frozen=True)
class Request:
    """One request that reached the proxy.

    Attributes:
        seconds: Monotonic.
        body: What it carries; empty when it only asks.
    """

    path: str
    query: dict[str, str]
    seconds: float
    method: str = "GET"
    body: bytes = b""

    @property
    def is_watch(self) -> bool:
        return self.query.get("watch") == "true"

    @property
    def is_write(self) -> bool:
        return self.method != "GET"

    @property
    def plural(self) -> str:
        return self.path.rpartition("/")[2]

    def lists(self, plural: str) -> bool:
        return self.plural == plural and not self.is_watch

    def watches(self, plural: str) -> bool:
        return self.plural == plural and self.is_watch


class Handler(BaseHTTPRequestHandler):
    """Handles one connection; `server` is set by the library."""

    protocol_version = "HTTP/1.1"
    proxy: "FaultyProxy"
    body: bytes = b""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def handle_request(self) -> None:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        # Read in any case: what is left of it would be taken for the next request.
        self.body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        request = Request(parts.path, query, time.monotonic(), self.command, self.body)
        fault = self.proxy.fault_for(request)
        (fault or pass_on)(self, request)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request  # noqa: N815  (names that the library asks for)

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"Content-Length": str(len(body)), **named}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self, *, is_reset: bool = False) -> None:
        if is_reset:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        if is_reset:
            self.connection.close()
        else:
            self.connection.shutdown(socket.SHUT_RDWR)

    def upstream(self) -> tuple[http.client.HTTPSConnection, http.client.HTTPResponse]:
        connection = self.proxy.connect()
        headers = {name: self.headers[name] for name in PASSED_ON if self.headers[name]}
        path = self.path.replace("limit=500", f"limit={self.proxy.page_objects}")
        connection.request(self.command, path, self.body or None, headers | self.proxy.headers)
        return connection, connection.getresponse()

    def upstream_body(self) -> bytes:
        connection, response = self.upstream()
        try:
            return response.read()
        finally:
            connection.close()


Fault = Callable[[Handler, Request], None]


def pass_on(handler: Handler, request: Request) -> None:
    """Let a request through, and its answer as it comes."""
    connection, response = handler.upstream()
    if request.is_watch:
        handler.proxy.streams.append(connection)
    try:
        handler.send_response(response.status)
        for name in ("Content-Type", "Retry-After"):
            if response.headers[name]:
                handler.send_header(name, response.headers[name])
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while chunk := response.read1(1 << 16):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")
    finally:
        response.close()
        connection.close()


@dataclass
class Plan:
    """A fault, for which requests, and how many of them."""

    matches: Callable[[Request], bool]
    fault: Fault
    times: float


@dataclass
class FaultyProxy:
    """One proxy.

    Attributes:
        url: Where it listens.
        connection: The real server.
        requests: Everything that was asked for.
        headers: Added to everything that is passed on.
        page_objects: How many objects a page has; a real server may give fewer than asked for.
        is_ending: Set when the test is over.
    """

    url: str
    connection: Connection
    requests: list[Request] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    page_objects: int = 500
    streams: list[http.client.HTTPSConnection] = field(default_factory=list)
    is_ending: threading.Event = field(default_factory=threading.Event)
    _plans: list[Plan] = field(default_factory=list)
    _tls: ssl.SSLContext | None = None

    def on(
        self, matches: Callable[[Request], bool], fault: Fault, times: float = float("inf")
    ) -> Plan:
        """Plan a fault; the one that was planned last goes first."""
        plan = Plan(matches, fault, times)
        self._plans.insert(0, plan)
        return plan

    def heal(self) -> None:
        """Plan nothing any more."""
        self._plans.clear()

    def has_planned(self, fault: Fault) -> bool:
        """Whether a fault still waits for requests."""
        return any(plan.fault is fault and plan.times > 0 for plan in self._plans)

    def fault_for(self, request: Request) -> Fault | None:
        """The fault that is planned for a request, which is counted."""
        self.requests.append(request)
        for plan in tuple(self._plans):
            if plan.times > 0 and plan.matches(request):
                plan.times -= 1
                return plan.fault
        return None

    def connect(self) -> http.client.HTTPSConnection:
        """A connection to the real server."""
        if self._tls is None:
            self._tls = tls_context(self.connection)
        parts = urlsplit(self.connection.server)
        return http.client.HTTPSConnection(str(parts.hostname), parts.port, context=self._tls)

    def await_stream(self) -> None:
        """Wait until something is watched: a fault planned before that hits the first stream."""
        assert self._has_stream(), f"no stream within {STREAM_SECONDS:.0f} s"

    def _has_stream(self) -> bool:
        deadline = time.monotonic() + STREAM_SECONDS
        while not self.streams and time.monotonic() < deadline:
            time.sleep(0.05)
        return bool(self.streams)

    def cut_streams(self) -> None:
        """Break every stream, as a server does that restarts.

        Waits for one as long as one may come: where faults let none through there is none to break.
        """
        self._has_stream()
        for stream in self.streams:
            if stream.sock is not None:
                stream.sock.shutdown(socket.SHUT_RDWR)
        self.streams.clear()

    def kubeconfig(self, folder: Path, user: str = "") -> Path:
        """Write a kubeconfig that leads here."""
        file = folder / "proxy.kubeconfig"
        file.write_text(KUBECONFIG.format(server=self.url, user=user))
        return file

    def seen(self, matches: Callable[[Request], bool]) -> list[Request]:
        """Requests of a kind, so far."""
        return [request for request in self.requests if matches(request)]


@contextmanager
def faulty_proxy(kubeconfig: Path) -> Iterator[FaultyProxy]:
    """Run one in front of the server that a kubeconfig names."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # hang-ups are wanted
    url = f"http://127.0.0.1:{server.server_address[1]}"
    proxy = FaultyProxy(url, connection_of(kubeconfig))
    server.RequestHandlerClass = type("Bound", (Handler,), {"proxy": proxy})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield proxy
    finally:
        proxy.is_ending.set()
        server.shutdown()
        thread.join()
        server.socket.close()
