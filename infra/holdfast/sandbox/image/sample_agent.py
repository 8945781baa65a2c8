"""The program of the sandbox's own image: an agent, a tool server and a stub model in one.

Copied into the image as one file; it uses the standard library only. Every port answers every path:

    GET  /healthz /readyz             200, or 503 while POST /readiness says so
    GET  /metrics                     Prometheus: requests by path
    GET  /.well-known/agent-card.json the card that is mounted
    POST /                            A2A message/send: calls the tool server and the model, answers
    POST /mcp                         MCP, with and without a handshake: tool search_docs
    GET  /v1/models                   POST /v1/chat/completions: a model that repeats its input
    GET  /facts                       who this process is, what it may write, when it started
    GET  /slow?seconds=N              answers after a while, also during a shutdown

On SIGTERM it takes no new request after DRAIN_SECONDS, finishes those that run, and ends.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
LEGACY_PROTOCOL = "2025-06-18"
CURRENT_PROTOCOL = "2026-07-28"
CALL_SECONDS = 5.0
TOOL: Json = {
    "name": "search_docs",
    "title": "Search",
    "description": "Searches the documentation.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}},
    "annotations": {"readOnlyHint": True, "destructiveHint": False},
}
SERVER: Json = {"name": "sandbox-docs", "version": "1.0.0"}


class Agent:
    """What the program is and does, apart from HTTP."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._requests: Counter[str] = Counter()
        self.is_ready = True
        self.is_alive = True
        self.started = time.time()

    def counted(self, path: str) -> None:
        """Count a request."""
        with self._lock:
            self._requests[path] += 1

    def metrics(self) -> str:
        """Requests by path, as Prometheus reads them."""
        with self._lock:
            counted = sorted(self._requests.items())
        name = "agent_requests_total"
        lines = [f"# HELP {name} Requests by path.", f"# TYPE {name} counter"]
        lines += [f'{name}{{path="{path}"}} {count}' for path, count in counted]
        return "\n".join(lines) + "\n"

    def facts(self) -> Json:
        """Who this process is and what it may write."""
        token = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
        return {
            "user": os.getuid(),
            "groups": sorted(os.getgroups()),
            "arguments": sys.argv[1:],
            "environment": dict(self._environment),
            "writable": {path: _is_writable(path) for path in ("/", "/tmp", "/data")},  # noqa: S108
            "token": token.exists(),
            "capabilities": _capabilities(),
            "host": socket.gethostname(),
            "started": self.started,
            "prompt": self.prompt(),
        }

    def prompt(self) -> str:
        """The system message that is mounted; empty without one."""
        config = _read_json(self._environment.get("AGENT_CONFIG_FILE"))
        file = config.get("prompt", {}).get("systemMessageFile") if config else None
        found = [Path(file)] if file else sorted(Path("/etc/holdfast/prompt").glob("[!.]*"))
        return next((path.read_text() for path in found if path.is_file()), "")

    def card(self) -> Json:
        """The card that is mounted; one of its own without."""
        return _read_json(self._environment.get("AGENT_CARD_FILE")) or {"name": "sandbox"}

    def answer(self, question: str) -> Json:
        """Ask the tool server and the model what they say, and remember the question."""
        said: Json = {"question": question, "prompt": self.prompt(), "host": socket.gethostname()}
        if url := self._tool_server():
            params = {"name": TOOL["name"], "arguments": {"query": question}}
            said["tool"] = _tried(lambda: _tool_text(url, params))
        if base := self._environment.get("MODEL_BASE_URL"):
            said["model"] = _tried(lambda: self._completion(base, question))
        said["remembered"] = _remember(Path("/data/questions"), question)
        return said

    def _tool_server(self) -> str:
        config = _read_json(self._environment.get("AGENT_CONFIG_FILE"))
        found = [
            each["url"] for each in config.get("tools", ()) if isinstance(each.get("url"), str)
        ]
        return found[0] if found else ""

    def _completion(self, base: str, question: str) -> str:
        key = self._environment.get("MODEL_API_KEY_FILE")
        headers = {"Authorization": f"Bearer {Path(key).read_text().strip()}"} if key else {}
        messages = [
            {"role": "system", "content": self.prompt()},
            {"role": "user", "content": question},
        ]
        body = {"model": self._environment.get("MODEL_NAME", ""), "messages": messages}
        answered = _post(f"{base.rstrip('/')}/chat/completions", body, headers)
        return str(answered["choices"][0]["message"]["content"])


def mcp_result(method: str, params: Json) -> Json | None:
    """Result of a call of MCP; None when there is no such method."""
    about = {"serverInfo": SERVER, "capabilities": {"tools": {}}, "instructions": "Search first."}
    if method == "initialize":
        return {"protocolVersion": LEGACY_PROTOCOL, **about}
    if method == "server/discover":
        return {"supportedVersions": [CURRENT_PROTOCOL, LEGACY_PROTOCOL], **about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        query = params.get("arguments", {}).get("query", "")
        return {"content": [{"type": "text", "text": f"found {query}"}], "isError": False}
    return {} if method == "ping" else None


def completion(body: Json) -> Json:
    """What the stub model says: its system message and the question, so that both can be seen."""
    by_role = {each["role"]: each["content"] for each in body.get("messages", ())}
    text = f"[{by_role.get('system', '')}] {by_role.get('user', '')}"
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return {"object": "chat.completion", "model": body.get("model", ""), "choices": [choice]}


class Handler(BaseHTTPRequestHandler):
    """One connection; `agent` is the program's only one."""

    protocol_version = "HTTP/1.1"
    agent: Agent

    def do_GET(self) -> None:
        """Answer a GET."""
        parts = urlsplit(self.path)
        self.agent.counted(parts.path)
        if parts.path == "/metrics":
            self._say(self.agent.metrics().encode(), "text/plain; version=0.0.4")
        elif parts.path in ("/healthz", "/livez"):
            self._say_health(is_good=self.agent.is_alive)
        elif parts.path in ("/readyz", "/health", "/startup"):
            self._say_health(is_good=self.agent.is_ready)
        elif parts.path == "/slow":
            time.sleep(float(parse_qs(parts.query).get("seconds", ["1"])[0]))
            self._say_json({"host": socket.gethostname()})
        elif parts.path in (routes := self._routes()):
            self._say_json(routes[parts.path]())
        else:
            self._say_json({"path": parts.path, "host": socket.gethostname()})

    def do_POST(self) -> None:
        """Answer a POST."""
        path = urlsplit(self.path).path
        self.agent.counted(path)
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body: Json = json.loads(content or b"{}")
        if path == "/readiness":
            self.agent.is_ready = bool(body.get("ready", True))
            self.agent.is_alive = bool(body.get("alive", True))
            self._say_json({})
        elif path.endswith("/chat/completions"):
            self._say_json(completion(body))
        elif "id" not in body:
            self._say(b"", status=HTTPStatus.ACCEPTED)
        else:
            self._say_json({"jsonrpc": "2.0", "id": body["id"], **self._called(body)})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the library
        """Log no single request."""

    def _routes(self) -> dict[str, Callable[[], Json]]:
        return {
            "/facts": self.agent.facts,
            "/v1/models": lambda: {"object": "list", "data": _models()},
            "/.well-known/agent-card.json": self.agent.card,
        }

    def _called(self, body: Json) -> Json:
        method, params = str(body.get("method")), body.get("params") or {}
        if method == "message/send":
            parts = params.get("message", {}).get("parts", ())
            question = " ".join(each.get("text", "") for each in parts)
            text = json.dumps(self.agent.answer(question))
            message = {"kind": "message", "role": "agent", "messageId": str(time.time_ns())}
            return {"result": message | {"parts": [{"kind": "text", "text": text}]}}
        result = mcp_result(method, params)
        unknown = {"code": -32601, "message": f"no method {method}"}
        return {"error": unknown} if result is None else {"result": result}

    def _say_health(self, *, is_good: bool) -> None:
        status = HTTPStatus.OK if is_good else HTTPStatus.SERVICE_UNAVAILABLE
        self._say(b"{}", status=status)

    def _say_json(self, content: Json) -> None:
        self._say(json.dumps(content).encode())

    def _say(
        self, content: bytes, kind: str = "application/json", status: int = HTTPStatus.OK
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Server(ThreadingHTTPServer):
    """Finishes the requests that run before it closes."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128


def main() -> int:
    """Serve until SIGTERM."""
    agent = Agent(os.environ)
    Handler.agent = agent
    # An idle connection that is kept open must not delay the end.
    Handler.timeout = 5
    named = [os.environ.get("PORT", "8080"), *os.environ.get("MORE_PORTS", "").split(",")]
    servers = [
        Server(("", port), Handler) for port in sorted({int(each) for each in named if each})
    ]
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    for server in servers:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    _log(event="serving", ports=[server.server_port for server in servers], prompt=agent.prompt())
    ended.wait()
    _log(event="ending")
    time.sleep(float(os.environ.get("DRAIN_SECONDS", "0.5")))
    for server in servers:
        server.shutdown()
        server.server_close()
    _log(event="ended")
    return 0


def _models() -> list[Json]:
    names = os.environ.get("SERVED_MODELS", "tiny-1").split(",")
    return [{"id": name, "object": "model"} for name in names]


def _tool_text(url: str, params: Json) -> str:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return str(_post(url, call, {})["result"]["content"][0]["text"])


def _post(url: str, body: Json, headers: Mapping[str, str]) -> Json:
    request = urllib.request.Request(  # noqa: S310 - addresses come from the mounted configuration
        url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}
    )
    with urllib.request.urlopen(request, timeout=CALL_SECONDS) as response:  # noqa: S310 - as above
        answered: Json = json.loads(response.read())
        return answered


def _tried(call: Callable[[], str]) -> str:
    try:
        return call()
    except (OSError, KeyError, ValueError) as error:
        return f"failed: {error}"


def _remember(file: Path, question: str) -> int:
    """Add a question to the file; how many there are, 0 where nothing can be kept."""
    try:
        with file.open("a") as questions:
            questions.write(question.replace("\n", " ") + "\n")
        return len(file.read_text().splitlines())
    except OSError:
        return 0


def _read_json(file: str | None) -> Json:
    try:
        found: Json = json.loads(Path(file).read_text()) if file else {}
    except (OSError, ValueError):
        return {}
    return found


def _is_writable(folder: str) -> bool:
    probe = Path(folder, f".probe-{os.getpid()}-{threading.get_ident()}")
    try:
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def _capabilities() -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next((line.split()[1] for line in lines if line.startswith("CapEff:")), "")


def _log(**words: object) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
