"""An MCP server in a process of its own that speaks one era of the protocol, or both.

`python -m tests.mcp_eras new|old|both` prints its port. Standard library only, so that neither era
depends on what the locked SDK happens to speak.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Literal

Eras = Literal["new", "old", "both"]
NEW: Final = "2026-07-28"
OLD: Final = "2025-11-25"
INSTRUCTIONS: Final = "Ask before you delete."
GET_PODS: Final = {
    "name": "get_pods",
    "title": "List pods",
    "description": "Lists pods.",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"pods": {"type": "array"}}},
    "annotations": {"readOnlyHint": True},
}
TIDY_UP: Final = {
    "name": "tidy_up",
    "description": "Deletes what nobody uses.",
    "inputSchema": {"type": "object"},
    "annotations": {"destructiveHint": True},
}
PAGES: Final = {None: ([TIDY_UP], "2"), "2": ([GET_PODS], None)}
_SESSION: Final = "a-session"


class RefusedError(Exception):
    """An error of the protocol, with its HTTP status."""

    def __init__(self, status: int, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"code": code, "message": message} | ({"data": data} if data else {})


def answer_of(eras: Eras, asked: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
    """The result of a request; as strict about both eras as their specifications allow."""
    params = asked.get("params") or {}
    version = (params.get("_meta") or {}).get("io.modelcontextprotocol/protocolVersion")
    if version is None:
        if eras == "new":
            raise RefusedError(400, -32602, "a request names its version in _meta")
        return _old(asked["method"], params, headers)
    if eras == "old":
        raise RefusedError(400, -32000, "Bad Request: Unsupported protocol version")
    return _new(asked["method"], params, version, headers)


def _new(
    method: str, params: dict[str, Any], version: str, headers: dict[str, str]
) -> dict[str, Any]:
    if "mcp-session-id" in headers:
        raise RefusedError(400, -32600, "there are no sessions")
    if headers.get("mcp-protocol-version") != version or headers.get("mcp-method") != method:
        raise RefusedError(400, -32020, "headers and body differ")
    if version != NEW:
        raise RefusedError(400, -32022, "Unsupported version", {"supported": [NEW]})
    if not isinstance(params["_meta"].get("io.modelcontextprotocol/clientCapabilities"), dict):
        raise RefusedError(400, -32602, "a request names its capabilities in _meta")
    done = {"resultType": "complete"}
    if method == "server/discover":
        capabilities = {"capabilities": {"tools": {}}, "instructions": INSTRUCTIONS}
        return done | capabilities | {"supportedVersions": [NEW]}
    return done | _page(method, params)


def _old(method: str, params: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": OLD,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tools", "version": "1"},
            "instructions": INSTRUCTIONS,
        }
    if headers.get("mcp-session-id") != _SESSION:
        raise RefusedError(400, -32600, "Bad Request: Missing session ID")
    return _page(method, params)


def _page(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method != "tools/list":
        raise RefusedError(404, -32601, f"Method not found: {method}")
    tools, cursor = PAGES[params.get("cursor")]
    return {"tools": tools} | ({"nextCursor": cursor} if cursor else {})


def serve(eras: Eras) -> None:
    """Serve until the process ends; new answers of one method come as a stream of events."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "id" not in asked:
                self.send(202, b"")
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            body: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
            status = 200
            try:
                body["result"] = answer_of(eras, asked, headers)
            except RefusedError as refusal:
                status, body["error"] = refusal.status, refusal.error
            if status == 200 and asked["method"] == "tools/list":
                note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
                events = [
                    ": keep-alive\n",
                    *(f"data: {json.dumps(each)}\n" for each in (note, body)),
                ]
                self.send(200, "\n".join(events).encode() + b"\n", "text/event-stream")
            else:
                self.send(
                    status, json.dumps(body).encode(), session=asked["method"] == "initialize"
                )

        def do_GET(self) -> None:
            self.send(405, b"")

        def do_DELETE(self) -> None:
            self.send(200, b"")

        def send(
            self, status: int, body: bytes, kind: str = "application/json", *, session: bool = False
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if session:
                self.send_header("Mcp-Session-Id", _SESSION)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


@contextmanager
def mcp_server_of(eras: Eras) -> Iterator[str]:
    """The address of a server process, for the length of a test."""
    root = Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.mcp_eras", eras], cwd=root, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        finally:
            process.kill()


if __name__ == "__main__":
    serve(sys.argv[1])  # type: ignore[arg-type]
