"""GitHub's and GitLab's comments and issues on the loopback address, as far as we ask for them."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "stub-token-4711"
ROBOT = {"login": "github-actions[bot]", "id": 41, "type": "Bot"}
SOMEBODY = {"login": "mallory", "id": 7, "type": "User"}


@dataclass
class CodeHostServer:
    """What it holds, and what it was asked.

    Attributes:
        failures: Answers to give before it works, first one first: a status code, with headers.
        page: Answer with this text and status 200, as a proxy does, instead of working.
        locked: Numbers of comments and issues that the token may not change.
        tells_name: Whether it says whose token it is; GitHub does not tell a job.
    """

    port: int = 0
    comments: list[dict[str, Any]] = field(default_factory=list)
    issues: list[dict[str, Any]] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    failures: list[int | tuple[int, dict[str, str]]] = field(default_factory=list)
    page: str = ""
    locked: set[int] = field(default_factory=set)
    requests: int = 0
    tells_name: bool = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def github(self) -> dict[str, str]:
        """Variables of a job of GitHub Actions."""
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.address,
            "GITHUB_REPOSITORY": "acme/agents",
            "GITHUB_TOKEN": TOKEN,
        }

    def gitlab(self) -> dict[str, str]:
        """Variables of a job of GitLab CI for a merge request."""
        return {
            "GITLAB_CI": "true",
            "CI_API_V4_URL": f"{self.address}/api/v4",
            "CI_PROJECT_ID": "12",
            "CI_MERGE_REQUEST_IID": "5",
            "GITLAB_TOKEN": TOKEN,
        }

    def answer(self, method: str, path: str, query: dict[str, str], sent: Any) -> tuple[int, Any]:
        path = path.removeprefix("/repos/acme/agents").removeprefix("/api/v4")
        path = path.removeprefix("/projects/12")
        if path == "/user":
            told = (200, ROBOT) if self.tells_name else (403, {"message": "not for integrations"})
            return told
        if method != "GET":
            self.writes.append(f"{method} {path}")
        if match := re.fullmatch(r"/(?:issues|merge_requests)/(\d+)/(?:comments|notes)", path):
            return self._of_list(self.comments, method, query, sent, about=match[1])
        if match := re.fullmatch(r"/(?:issues/comments|merge_requests/5/notes)/(\d+)", path):
            return self._changed(self.comments, match[1], sent)
        if path == "/issues":
            state = "open"
            listed = [each for each in self.issues if each["state"] == state]
            return self._of_list(
                self.issues if method == "POST" else listed, method, query, sent, state=state
            )
        if match := re.fullmatch(r"/issues/(\d+)", path):
            return self._changed(self.issues, match[1], sent)
        return 404, {"message": "Not Found"}

    def _of_list(
        self,
        items: list[dict[str, Any]],
        method: str,
        query: dict[str, str],
        sent: Any,
        **more: str,
    ) -> tuple[int, Any]:
        if method == "POST":
            number = len(items) + 1
            author = {"user": ROBOT, "author": ROBOT}
            numbers = {"id": number, "number": number, "iid": number}
            items.append({**sent, **numbers, **author, **more, "html_url": "", "web_url": ""})
            return 201, items[-1]
        size, page = int(query["per_page"]), int(query["page"])
        return 200, items[(page - 1) * size : page * size]

    def _changed(self, items: list[dict[str, Any]], number: str, sent: Any) -> tuple[int, Any]:
        if int(number) in self.locked:
            return 403, {"message": "Resource not accessible by integration"}
        item = items[int(number) - 1]
        item.update(sent)
        if sent.get("state_event") == "close":
            item["state"] = "closed"
        return 200, item


@contextmanager
def code_host_server() -> Iterator[CodeHostServer]:
    """Serve on a free port until the block ends."""
    held = CodeHostServer()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            sent = json.loads(self.rfile.read(length)) if length else None
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            given = (self.headers.get("Authorization"), self.headers.get("PRIVATE-TOKEN"))
            held.requests += 1
            headers: dict[str, str] = {}
            if held.failures:
                failure = held.failures.pop(0)
                status, headers = (failure, {}) if isinstance(failure, int) else failure
                answer: Any = {"message": "later"}
            elif given not in ((f"Bearer {TOKEN}", None), (None, TOKEN)):
                status, answer = 401, {"message": "Bad credentials"}
            else:
                status, answer = held.answer(self.command, parts.path, query, sent)
            body = json.dumps(answer).encode()
            if held.page:
                status, body, headers = 200, held.page.encode(), {"Content-Type": "text/html"}
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = _serve  # noqa: N815  (the base class's names)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        held.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield held
        finally:
            server.shutdown()
            thread.join()
