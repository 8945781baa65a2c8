import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.backoff import Backoff
from holdfast.adapters.http.webhook import MAX_TRIES, Webhook
from holdfast.errors import InputError


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backoff, "REQUESTS", Backoff(0.0, 0.0))


@contextmanager
def receiver(*statuses: int) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """Answers with these statuses in turn, the last one for ever."""
    received: list[tuple[dict[str, str], bytes]] = []
    left = list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((dict(self.headers), body))
            self.send_response(left.pop(0) if len(left) > 1 else left[0])
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/?key=hunter2", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def deliver(url: str, *documents: dict[str, int]) -> list[tuple[str, str]]:
    outcomes: list[tuple[str, str]] = []
    webhook = Webhook(url, lambda outcome, why: outcomes.append((outcome, why)), "token")
    for document in documents:
        webhook.send(document)
    webhook.close()
    return outcomes


def test_documents_arrive_in_order_as_cloud_events() -> None:
    with receiver(202) as (url, received):
        assert deliver(url, {"n": 1}, {"n": 2}) == [("delivered", ""), ("delivered", "")]
    assert [json.loads(body) for _, body in received] == [{"n": 1}, {"n": 2}]
    headers = received[0][0]
    assert headers["Content-Type"] == "application/cloudevents+json; charset=UTF-8"
    assert headers["Authorization"] == "Bearer token"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_receiver_that_recovers_gets_it(status: int) -> None:
    with receiver(status, status, 200) as (url, received):
        assert deliver(url, {"n": 1}) == [("delivered", "")]
    assert len(received) == 3


def test_tries_are_bounded_and_the_loss_is_said_without_the_url() -> None:
    with receiver(503) as (url, received):
        assert deliver(url, {"n": 1}) == [("lost", "http://127.0.0.1: 503")]
    assert len(received) == MAX_TRIES


def test_a_refusal_is_final() -> None:
    with receiver(403) as (url, received):
        assert deliver(url, {"n": 1}) == [("lost", "http://127.0.0.1: 403")]
    assert len(received) == 1


def test_nobody_there_is_a_loss_without_the_url() -> None:
    with receiver(200) as (url, _):
        pass
    ((outcome, why),) = deliver(url, {"n": 1})
    assert outcome == "lost"
    assert "hunter2" not in why


@pytest.mark.parametrize("url", ["ftp://x", "events", "https://user:hunter2@x/", "http://"])
def test_what_is_no_such_url_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InputError) as caught:
        Webhook(url, lambda *_: None)
    assert "hunter2" not in str(caught.value)
