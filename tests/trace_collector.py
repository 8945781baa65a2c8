"""A collector of traces for tests: OTLP over HTTP, as any that listens at /v1/traces."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Collected:
    """One span as it came.

    Attributes:
        parent: Identifier of the span that it belongs to; empty for a whole piece of work.
        problem: What its status says; empty unless that is an error.
    """

    name: str
    trace_id: str
    identifier: str
    parent: str
    start: int
    problem: str
    attributes: dict[str, Any]
    resource: dict[str, Any]


@dataclass
class Collector:
    """What was sent to one address.

    Attributes:
        headers: Of the requests, in order.
    """

    address: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    _spans: list[Collected] = field(default_factory=list)

    @property
    def spans(self) -> list[Collected]:
        """All spans, by when they began."""
        return sorted(self._spans, key=lambda each: each.start)

    @property
    def variables(self) -> dict[str, str]:
        """What makes a process send here, without waiting for long."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.address, "OTEL_BSP_SCHEDULE_DELAY": "200"}

    def take(self, body: bytes) -> None:
        """Take one request."""
        for scoped in ExportTraceServiceRequest.FromString(body).resource_spans:
            resource = _plain(scoped.resource.attributes)
            for scope in scoped.scope_spans:
                self._spans += (_collected(each, resource) for each in scope.spans)


def _collected(span: Any, resource: dict[str, Any]) -> Collected:
    return Collected(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.start_time_unix_nano,
        span.status.message if span.status.code == span.status.STATUS_CODE_ERROR else "",
        _plain(span.attributes),
        resource,
    )


def _plain(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind) if kind else None


@contextmanager
def collecting(status: int = 200) -> Iterator[Collector]:
    """A collector until the end of the block; it answers with one status."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.headers.append(dict(self.headers.items()))
            if self.path == "/v1/traces" and status == 200:
                collector.take(body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing is told."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
