"""What a reconciler answers over HTTP."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import urllib3
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


def test_health_status_and_metrics_are_told(loop: Loop, address: str) -> None:
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
