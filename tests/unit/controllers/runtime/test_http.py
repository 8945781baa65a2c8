"""What a reconciler answers over HTTP."""

import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import urllib3
from holdfast.controllers.runtime import bounded_server
from holdfast.controllers.runtime.bounded_server import MOST_CONNECTIONS
from holdfast.controllers.runtime.http import EndpointServer, is_let_in
from holdfast.errors import InputError
from prometheus_client import CollectorRegistry, Gauge


@dataclass
class Loop:
    """What the server asks."""

    hooks: list[str] = field(default_factory=list)
    alive: bool = True


@pytest.fixture
def loop() -> Loop:
    return Loop()


def server_of(loop: Loop, port: int = 0) -> EndpointServer:
    registry = CollectorRegistry()
    Gauge("metric", "A metric.", registry=registry).set(1)
    checks = {"/healthz": lambda: "" if loop.alive else "the loop is stuck"}
    server = EndpointServer("--listen", ("127.0.0.1", port), registry, checks)
    server.serve_status(lambda: {"stack": "dev"})
    server.take_hooks(lambda: loop.hooks.append("hook"), "s3cret")
    return server


@pytest.fixture
def address(loop: Loop) -> Iterator[str]:
    server = server_of(loop)
    server.start()
    yield f"http://127.0.0.1:{server.port}"
    server.close()


def test_a_hook_with_the_secret_is_heard(loop: Loop, address: str) -> None:
    with urllib3.PoolManager() as pool:
        posted = pool.request("POST", f"{address}/hook", headers={"X-Gitlab-Token": "s3cret"})
    assert (posted.status, loop.hooks) == (202, ["hook"])


@pytest.mark.parametrize(
    ("path", "headers", "body", "status"),
    [
        pytest.param("/hook", {}, b"", 403, id="no secret"),
        pytest.param("/hook", {"X-Gitlab-Token": "other"}, b"", 403, id="another secret"),
        pytest.param("/other", {"X-Gitlab-Token": "s3cret"}, b"", 404, id="another path"),
        pytest.param("/hook", {"X-Gitlab-Token": "s3cret"}, b"x" * (1 << 20) + b"x", 413, id="big"),
    ],
)
def test_anything_else_is_not(
    loop: Loop, address: str, path: str, headers: dict[str, str], body: bytes, status: int
) -> None:
    with urllib3.PoolManager(retries=False) as pool:
        try:
            answer = pool.request("POST", f"{address}{path}", headers=headers, body=body).status
        except urllib3.exceptions.ProtocolError:
            answer = 413  # it was refused before all of it was sent
    assert (answer, loop.hooks) == (status, [])


def test_health_status_and_metrics_are_reported(loop: Loop, address: str) -> None:
    with urllib3.PoolManager() as pool:
        assert pool.request("GET", f"{address}/healthz").status == 200
        loop.alive = False
        stuck = pool.request("GET", f"{address}/healthz")
        assert (stuck.status, stuck.data) == (503, b"the loop is stuck")
        assert json.loads(pool.request("GET", f"{address}/status").data) == {"stack": "dev"}
        assert pool.request("GET", f"{address}/metrics").data.endswith(b"metric 1.0\n")
        assert pool.request("GET", f"{address}/").status == 404


def test_a_signature_of_github_is_checked() -> None:
    digest = hmac.new(b"s3cret", b"body", hashlib.sha256).hexdigest()
    assert is_let_in(b"body", {"X-Hub-Signature-256": f"sha256={digest}"}, "s3cret")
    assert not is_let_in(b"other", {"X-Hub-Signature-256": f"sha256={digest}"}, "s3cret")
    assert not is_let_in(b"body", {}, "s3cret")
    assert is_let_in(b"body", {}, "")


def test_an_address_that_is_taken_is_one_clear_error(loop: Loop, address: str) -> None:
    port = int(address.rpartition(":")[2])
    with pytest.raises(InputError, match=f"--listen 127.0.0.1:{port}: Address already in use"):
        server_of(loop, port)


def hook_of(port: int, headers: bytes, body: bytes = b"") -> bytes:
    """What is answered to a POST that was sent byte for byte."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"POST /hook HTTP/1.1\r\n" + headers + b"\r\n" + body)
        return connection.recv(100).partition(b"\r\n")[0]


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param("x-gitlab-token: s3cret\r\nContent-Length: ²\r\n", b"411", id="superscript"),
        pytest.param("x-gitlab-token: s3cret\r\nContent-Length: -1\r\n", b"411", id="negative"),
        pytest.param("x-gitlab-token: s3cret\r\n", b"411", id="no length"),
        pytest.param(
            f"x-gitlab-token: s3cret\r\nContent-Length: {'9' * 5000}\r\n", b"413", id="5k"
        ),
        pytest.param("x-gitlab-token: s3cret\r\nContent-Length: 0\r\n", b"202", id="lower case"),
        pytest.param("Content-Length: 1000000\r\n", b"403", id="refused before it is read"),
        pytest.param("X-Gitlab-Token: \xe9\xff\r\nContent-Length: 0\r\n", b"403", id="no ASCII"),
    ],
)
def test_a_hook_is_read_only_as_far_as_it_may_be(address: str, headers: str, status: bytes) -> None:
    assert hook_of(port_of(address), headers.encode("latin-1"))[9:12] == status


def test_a_proxy_that_changes_the_case_of_headers_does_not_invalidate_a_signature() -> None:
    digest = hmac.new(b"s3cret", b"body", hashlib.sha256).hexdigest()
    assert is_let_in(b"body", {"x-hub-signature-256": f"sha256={digest}"}, "s3cret")


def test_more_headers_than_a_request_may_have_are_not_kept(address: str) -> None:
    line = b"X-A: " + b"a" * 60_000 + b"\r\n"
    assert b"431" in hook_of(port_of(address), line * 3)


def answering() -> set[threading.Thread]:
    """Threads that answer a connection, of any server of this process."""
    return {each for each in threading.enumerate() if "process_request" in each.name}


def test_open_connections_do_not_keep_others_out(address: str) -> None:
    others = answering()
    held = [socket.create_connection(("127.0.0.1", port_of(address))) for _ in range(100)]
    try:
        for each in held:
            each.sendall(b"GET /healthz HT")
        with urllib3.PoolManager(retries=False, timeout=5) as pool:
            assert pool.request("GET", f"{address}/healthz").status == 200
        # A thread gives its place back before it ends: others may be on their way out.
        deadline = time.monotonic() + 5
        while len(answering() - others) > MOST_CONNECTIONS + 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(answering() - others) <= MOST_CONNECTIONS + 1
    finally:
        for each in held:
            each.close()


def test_a_connection_ends_however_often_it_sends_a_byte(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_server, "LONGEST_CONNECTION_SECONDS", 0.2)
    server = server_of(loop)
    server.start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"GET /healthz HT")
        assert connection.recv(1) == b""  # cut off, though neither side was silent for 10 s
    server.close()


def test_without_a_secret_only_this_machine_may_send_hooks(loop: Loop) -> None:
    registry = CollectorRegistry()
    everywhere = EndpointServer("--listen", ("", 0), registry, {})
    everywhere.take_hooks(lambda: loop.hooks.append("hook"), "")
    here = EndpointServer("--listen", ("127.0.0.1", 0), registry, {})
    here.take_hooks(lambda: loop.hooks.append("hook"), "")
    for server in (everywhere, here):
        server.start()
    answers = [hook_of(each.port, b"Content-Length: 0\r\n")[9:12] for each in (everywhere, here)]
    for server in (everywhere, here):
        server.close()
    assert (answers, loop.hooks) == ([b"403", b"202"], ["hook"])


def test_a_status_is_for_this_machine_and_for_bearers_of_the_secret(loop: Loop) -> None:
    server = server_of(loop)
    server.start()
    assert server.is_trusted("127.0.0.1", {})
    assert server.is_trusted("10.0.0.7", {"authorization": "Bearer s3cret"})
    assert not server.is_trusted("10.0.0.7", {"Authorization": "Bearer other"})
    assert server.answer("/status", is_trusted=False)[0] == 403
    server.close()


def test_a_flood_of_hooks_ends_no_back_off(loop: Loop, address: str) -> None:
    headers = b"X-Gitlab-Token: s3cret\r\nContent-Length: 0\r\n"
    answers = [hook_of(port_of(address), headers)[9:12] for _ in range(62)]
    assert (answers.count(b"202"), answers.count(b"429"), len(loop.hooks)) == (60, 2, 60)
