"""The scripts of the tool image, run by a real shell with the real curl against a real server."""

import hashlib
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from holdfast.render.pod.tool_scripts import CHECK, FETCH, WAIT, WARM

from tests.mcp_eras import Eras, mcp_server_of

MISSING = [name for name in ("sh", "curl", "sha256sum") if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)} on this machine")

CONTENT = b"weights"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
TOKEN = "a-token-of-the-test"


@dataclass
class Remote:
    """A server that plays a file store, a model, an MCP server and an agent."""

    url: str = ""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def headers_of(self, path: str) -> dict[str, str]:
        """Headers of the last request of a path, their names in lower case."""
        return [headers for asked, headers in self.requests if asked == path][-1]


@pytest.fixture
def remote() -> Iterator[Remote]:
    remote = Remote()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            remote.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
            answers = {
                "/w.bin": (200, CONTENT),
                "/v1/models": (200, json.dumps({"data": [{"id": "vlm-7b"}]}).encode()),
                "/a/.well-known/agent-card.json": (200, b"{}"),
                "/sse": (200, b"event: endpoint\ndata: /messages\n\n"),
                "/http": (405, b""),
                "/broken": (500, b""),
            }
            status, content = answers.get(self.path, (404, b""))
            if self.path == "/loading":
                seen = sum(path == "/loading" for path, _ in remote.requests)
                status = 503 if seen == 1 else 200
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_mcp = self.path == "/mcp" and asked["method"] == "initialize"
            content = b'{"result":{"serverInfo":{"name":"crm"}}}' if is_mcp else b"{}"
            content = json.dumps(asked).encode() if self.path == "/echo" else content
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    remote.url = f"http://127.0.0.1:{server.server_port}"
    yield remote
    server.shutdown()
    server.server_close()
    thread.join()


def run(script: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOSTNAME": "pod-1", "TMPDIR": str(folder)} | variables,
    )


def fetch(remote: Remote, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    told = {
        "FETCH_URL": f"{remote.url}/w.bin",
        "FETCH_FOLDER": str(folder / "models"),
        "FETCH_FILE": "w.bin",
        "FETCH_SHA256": DIGEST,
    }
    return run(FETCH, folder, **(told | variables))


def check(
    remote: Remote, folder: Path, *targets: str, **variables: str
) -> "subprocess.CompletedProcess[str]":
    lines = "\n".join(target.replace("URL", remote.url) for target in targets)
    told = {"CHECK_TARGETS": lines, "CHECK_TIMEOUT_SECONDS": "0"}
    return run(CHECK, folder, **(told | variables))


def test_a_file_is_fetched_and_checked(remote: Remote, tmp_path: Path) -> None:
    done = fetch(remote, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "models" / "w.bin").read_bytes() == CONTENT


def test_a_file_that_is_there_is_not_fetched_again(remote: Remote, tmp_path: Path) -> None:
    fetch(remote, tmp_path)
    done = fetch(remote, tmp_path)
    assert "there already" in done.stdout
    assert len(remote.requests) == 1


def test_a_file_of_another_digest_is_fetched_again_or_refused(
    remote: Remote, tmp_path: Path
) -> None:
    fetch(remote, tmp_path)
    target = tmp_path / "models" / "w.bin"
    target.write_bytes(b"tampered")
    assert fetch(remote, tmp_path).returncode == 0
    assert target.read_bytes() == CONTENT
    other = fetch(remote, tmp_path, FETCH_SHA256="0" * 64, FETCH_FILE="other.bin")
    assert other.returncode == 1
    assert "has another digest than the declared" in other.stderr
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["w.bin"]


def test_a_file_that_is_not_there_fails_with_its_status(remote: Remote, tmp_path: Path) -> None:
    done = fetch(remote, tmp_path, FETCH_URL=f"{remote.url}/absent")
    assert done.returncode != 0
    assert "404" in done.stderr


def test_credentials_are_sent_but_not_shown(remote: Remote, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    done = fetch(remote, tmp_path, FETCH_TOKEN_FILE=str(tmp_path / "token"))
    assert remote.headers_of("/w.bin")["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in done.stdout + done.stderr


def test_a_request_to_a_store_is_signed(remote: Remote, tmp_path: Path) -> None:
    (tmp_path / "access-key-id").write_text("KEYID")
    (tmp_path / "secret-access-key").write_text(TOKEN)
    fetch(remote, tmp_path, FETCH_KEYS_FOLDER=str(tmp_path), FETCH_REGION="eu-1")
    sent = remote.headers_of("/w.bin")["authorization"]
    assert sent.startswith("AWS4-HMAC-SHA256 Credential=KEYID/")
    assert "/eu-1/s3/aws4_request" in sent
    assert TOKEN not in sent


def test_a_check_passes_when_everything_answers(remote: Remote, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(TOKEN)
    done = check(
        remote,
        tmp_path,
        "model URL/v1/models vlm-7b",
        "mcp URL/mcp",
        "sse URL/sse",
        "agent URL/a",
        "http URL/http",
        CHECK_KEY_HEADER="bearer",
        CHECK_KEY_FILE=str(tmp_path / "key"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" answers\n") == 5
    assert remote.headers_of("/v1/models")["authorization"] == f"Bearer {TOKEN}"


def test_a_check_asks_anthropic_in_its_own_way(remote: Remote, tmp_path: Path) -> None:
    target = "model URL/v1/models vlm-7b"
    done = check(
        remote, tmp_path, target, CHECK_KEY_HEADER="x-api-key", CHECK_KEY_ENV="KEY", KEY=TOKEN
    )
    assert done.returncode == 0, done.stderr
    headers = remote.headers_of("/v1/models")
    assert headers["x-api-key"] == TOKEN
    assert headers["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        pytest.param("model URL/v1/models gpt-9", "it does not offer gpt-9", id="other model"),
        pytest.param("model URL/absent gpt-9", "status 404", id="no model"),
        pytest.param("mcp URL/other", "no MCP server", id="no MCP server"),
        pytest.param("sse URL/http", "no MCP server", id="no stream"),
        pytest.param("agent URL/b", "status 404", id="no card"),
        pytest.param("http URL/broken", "status 500", id="broken tool"),
        pytest.param("http http://127.0.0.1:1/", "connect", id="nobody there"),
    ],
)
def test_a_check_fails_with_what_does_not_answer_and_why(
    remote: Remote, tmp_path: Path, target: str, reason: str
) -> None:
    done = check(remote, tmp_path, "mcp URL/mcp", target)
    assert done.returncode == 1
    assert "does not answer" in done.stderr
    assert reason in done.stderr


def test_a_warmer_ends_when_it_is_reported_to(remote: Remote, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "WARM_URL": f"{remote.url}/http",
        "WARM_INTERVAL_SECONDS": "300",
    }
    with subprocess.Popen(["/bin/sh", "-c", WARM], env=environment, cwd=tmp_path) as warmer:
        while not remote.requests:
            assert warmer.poll() is None
        warmer.terminate()
        assert warmer.wait(timeout=20) == 0


def test_a_warmer_does_not_wait_an_interval_for_an_agent_that_is_not_up_yet(
    remote: Remote, tmp_path: Path
) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "WARM_URL": f"{remote.url}/loading",
        "WARM_INTERVAL_SECONDS": "300",
    }
    with subprocess.Popen(["/bin/sh", "-c", WARM], env=environment, cwd=tmp_path) as warmer:
        try:
            while len(remote.requests) < 2:
                assert warmer.poll() is None
        finally:
            warmer.terminate()


def test_an_agent_waits_until_its_dependency_listens(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with subprocess.Popen(
            ["/bin/sh", "-c", WAIT],
            env={"PATH": os.environ["PATH"], "WAIT_URLS": url},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        ) as wait:
            assert wait.stdout is not None
            assert wait.stdout.readline() == f"holdfast: waiting for {url}\n"
            listener.listen()
            # It is no HTTP server: an accepted connection is enough.
            listener.accept()[0].close()
            assert f"holdfast: {url} listens\n" in wait.stdout.read()
            assert wait.wait(timeout=20) == 0


def test_an_agent_starts_when_all_it_needs_answers_in_whatever_way(
    remote: Remote, tmp_path: Path
) -> None:
    done = run(WAIT, tmp_path, WAIT_URLS=f"{remote.url}/w.bin {remote.url}/broken")
    assert done.returncode == 0
    assert done.stdout.count(" listens\n") == 2


@pytest.mark.parametrize("eras", ["new", "old", "both"])
def test_a_tool_server_answers_the_check_in_the_protocol_it_speaks(
    eras: Eras, remote: Remote, tmp_path: Path
) -> None:
    with mcp_server_of(eras) as url:
        done = check(remote, tmp_path, f"mcp {url}")
    assert done.returncode == 0, done.stderr
    assert f"mcp {url} answers" in done.stdout


def test_a_server_that_repeats_the_question_is_no_tool_server(
    remote: Remote, tmp_path: Path
) -> None:
    done = check(remote, tmp_path, "mcp URL/echo")
    assert done.returncode == 1
    assert "no MCP server" in done.stderr
