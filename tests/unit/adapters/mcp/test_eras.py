"""A server is read in the protocol that it speaks, and what it promises is the same in both."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from holdfast.adapters.mcp.mcp_server import ServerAddress, ToolServerError, read_contract
from holdfast.manifest.fleet.tool_contracts import ServerContract, ToolContract

from tests.mcp_eras import GET_PODS, INSTRUCTIONS, NEW, OLD, TIDY_UP, Eras, mcp_server_of

OBJECT = {"type": "object"}
PROMISED = ServerContract(
    (
        ToolContract(
            "get_pods",
            "Lists pods.",
            OBJECT,
            "List pods",
            {"type": "object", "properties": {"pods": {"type": "array"}}},
            {"readOnlyHint": True},
        ),
        ToolContract(
            "tidy_up", "Deletes what nobody uses.", OBJECT, annotations={"destructiveHint": True}
        ),
    ),
    INSTRUCTIONS,
)


@pytest.mark.parametrize("eras", ["new", "old", "both"])
def test_a_server_is_read_in_the_protocol_it_speaks(eras: Eras) -> None:
    with mcp_server_of(eras) as url:
        assert read_contract(ServerAddress(url), timeout_seconds=20) == PROMISED


Said = tuple[int, bytes, dict[str, str]]


@contextmanager
def hostile(says: Callable[[dict[str, Any]], Said]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers as a test says; its address, and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(request)
            status, body, headers = says(request)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(405)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", asked
    finally:
        server.shutdown()
        server.server_close()


def result(request: dict[str, Any], value: object, **other: object) -> Said:
    """A JSON-RPC answer."""
    body = {"jsonrpc": "2.0", "id": request.get("id"), "result": value} | other
    return 200, json.dumps(body).encode(), {"Content-Type": "application/json"}


def stateless(tools: Callable[[dict[str, Any]], Said]) -> Callable[[dict[str, Any]], Said]:
    """A server of 2026-07-28 that answers `tools/list` as a test says."""

    def says(request: dict[str, Any]) -> Said:
        if request["method"] == "server/discover":
            return result(request, {"supportedVersions": [NEW], "capabilities": {}})
        return tools(request)

    return says


def listing(*tools: dict[str, Any], **other: object) -> Callable[[dict[str, Any]], Said]:
    """A server of 2026-07-28 with these tools."""
    return stateless(lambda request: result(request, {"tools": list(tools)} | other))


def nested(levels: int) -> Any:
    """Lists in lists."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def raw(body: bytes, kind: str = "application/json") -> Callable[[dict[str, Any]], Said]:
    """A server of 2026-07-28 that lists its tools as these bytes."""
    return stateless(lambda _: (200, body, {"Content-Type": kind}))


ATTACKS = {
    "the answer to another request": (
        stateless(lambda request: result({"id": request["id"] + 1}, {"tools": []})),
        "another request than the one that was sent",
    ),
    "an id that only looks like the one": (
        stateless(lambda request: result({"id": str(request["id"])}, {"tools": []})),
        "another request than the one that was sent",
    ),
    "a result for nobody": (
        stateless(lambda _: result({}, {"tools": []})),
        "another request than the one that was sent",
    ),
    "a redirect to another host": (
        stateless(lambda _: (307, b"", {"Location": "http://169.254.169.254/mcp"})),
        "answers with a redirect",
    ),
    "a schema that is nested deeply": (
        listing(GET_PODS | {"outputSchema": {"deep": nested(100)}}),
        "nests the schema of 'get_pods' deeper than 64",
    ),
    "an annotation that is nested deeply": (
        listing(GET_PODS | {"annotations": {"title": "a", "deep": nested(100)}}),
        "nests the schema of 'get_pods' deeper than 64",
    ),
    "JSON that is nested beyond every parser": (raw(b"[" * 200_000), "no JSON-RPC"),
    "no JSON at all": (raw(b"<html>"), "no JSON-RPC"),
    "a stream that ends without an answer": (
        raw(b": nothing\n\n", "text/event-stream"),
        "no answer in what it sends",
    ),
    "more than is taken": (raw(b" " * (5 << 20)), "sends more than 4194304 bytes"),
    "a stream of notifications without end": (
        raw(
            b'data: {"jsonrpc": "2.0", "method": "notifications/message"}\n\n' * 80_000,
            "text/event-stream",
        ),
        "sends more than 4194304 bytes",
    ),
    "compressed, unasked": (
        stateless(lambda _: (200, b"\x1f\x8b", {"Content-Encoding": "gzip"})),
        "answers compressed, unasked",
    ),
    "pages without end": (listing(nextCursor="again"), "on more than 100 pages"),
    "one name twice, with other annotations": (
        listing(TIDY_UP, TIDY_UP | {"annotations": {"readOnlyHint": True}}),
        "lists the tool 'tidy_up' twice",
    ),
    "a question back": (
        stateless(lambda request: result(request, {"resultType": "input_required"})),
        "asks back instead of answering",
    ),
    "tools that are none": (listing({"name": 7}), "no list of tools"),
    "annotations that are none": (
        listing(GET_PODS | {"annotations": {"readOnlyHint": {"lie": True}}}),
        "no list of tools",
    ),
    "an error that steers the terminal": (
        stateless(
            lambda request: (
                400,
                json.dumps(
                    {
                        "jsonrpc": "2.0",
                        "id": request["id"],
                        "error": {"code": -1, "message": "\x1b[2Jfine"},
                    }
                ).encode(),
                {},
            )
        ),
        r"tools/list: error -1: \\e\[2Jfine",
    ),
    "only versions to come": (
        lambda request: result(request, {"supportedVersions": ["2027-01-01"]}),
        "speaks MCP 2027-01-01, and neither 2026-07-28 nor an earlier version",
    ),
    "refused for its version, and only versions to come": (
        lambda request: (
            400,
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": request["id"],
                    "error": {
                        "code": -32022,
                        "message": "no",
                        "data": {"supported": ["2027-01-01"]},
                    },
                }
            ).encode(),
            {},
        ),
        "speaks MCP 2027-01-01, and neither",
    ),
    "no credentials": (lambda _: (401, b"", {}), "401"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_server_is_an_error_and_never_an_empty_list(name: str) -> None:
    says, words = ATTACKS[name]
    with hostile(says) as (url, _), pytest.raises(ToolServerError, match=words):
        read_contract(ServerAddress(url), timeout_seconds=20)


def test_a_server_that_answers_discovery_is_not_asked_in_the_earlier_protocol() -> None:
    with hostile(raw(b"<html>")) as (url, asked):
        with pytest.raises(ToolServerError):
            read_contract(ServerAddress(url))
        assert [each["method"] for each in asked] == ["server/discover", "tools/list"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((404, b"not found", {}), id="an unknown path"),
        pytest.param((500, b"", {}), id="a fault of the server"),
        pytest.param((200, b"{}", {"Content-Type": "application/json"}), id="an empty answer"),
        pytest.param((202, b"", {}), id="accepted, and silent"),
    ],
)
def test_what_does_not_know_discovery_is_asked_in_the_earlier_protocol(answer: Said) -> None:
    def says(request: dict[str, Any]) -> Said:
        if request["method"] == "server/discover":
            return answer
        if request["method"] == "initialize":
            welcome = {"name": "tools", "version": "1"}
            return result(
                request, {"protocolVersion": OLD, "capabilities": {}, "serverInfo": welcome}
            )
        return result(request, {"tools": [GET_PODS]}) if "id" in request else (202, b"", {})

    with hostile(says) as (url, _):
        (tool,) = read_contract(ServerAddress(url), timeout_seconds=20).tools
        assert (tool.name, tool.title, tool.is_destructive) == ("get_pods", "List pods", False)


def test_a_server_that_accepts_and_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = ServerAddress(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp")
        with pytest.raises(ToolServerError, match=r"did not list its tools within 0\.5 s"):
            read_contract(address, timeout_seconds=0.5)
