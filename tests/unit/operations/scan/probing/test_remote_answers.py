"""Models and agent cards, asked of a real server; what does not answer is not checked."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from holdfast.adapters.http.http_answer import (
    LARGEST_ANSWER_BYTES,
    UnansweredError,
    get_json,
    place_of,
)
from holdfast.drift.finding import Severity
from holdfast.drift.probes.answers import CARD_PATH, ExpectedModel, judge_card
from holdfast.drift.probes.outcome import Subject
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import format_path
from holdfast.operations.scan.probing.endpoints import probe_card, probe_model

from tests.unit.drift.probes.stub_server import StubServer, stub_server

SUBJECT = Subject("support-rag", ObjectRef("cx", "Deployment", "support-rag", "apps/v1"))
CARD: dict[str, Any] = {
    "name": "support-rag",
    "version": "2.1.0",
    "skills": [{"id": "answer", "tags": ["faq"]}, {"id": "cite", "tags": []}],
}
SECRET = "sk-live-12345"


@pytest.fixture
def server() -> Iterator[StubServer]:
    with stub_server() as running:
        yield running


def model(server: StubServer, suffix: str = "") -> ExpectedModel:
    return ExpectedModel("Anthropic", "sonnet", "sonnet-2026-02-01", server.url + suffix)


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_an_alias_that_stands_for_the_expected_model_is_in_sync(
    server: StubServer, suffix: str
) -> None:
    server.says("/v1/models/sonnet", {"id": "sonnet-2026-02-01", "type": "model"})
    outcome = probe_model(SUBJECT, model(server, suffix), {"x-api-key": SECRET})
    assert (outcome.findings, outcome.not_checked, outcome.asked) == ((), (), 1)
    assert server.headers[0]["X-Api-Key"] == SECRET


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"id": "sonnet-2026-09-09"}, id="Anthropic"),
        pytest.param({"id": "sonnet", "root": "sonnet-2026-09-09"}, id="a server of weights"),
    ],
)
def test_an_alias_that_was_moved_is_found(server: StubServer, answer: dict[str, str]) -> None:
    server.says("/v1/models/sonnet", answer)
    (finding,) = probe_model(SUBJECT, model(server), {}).findings
    assert format_path(finding.path) == "probes.model.resolved"
    assert (finding.desired, finding.live) == ("sonnet-2026-02-01", "sonnet-2026-09-09")
    assert finding.severity is Severity.HIGH


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        pytest.param({}, 401, "answers 401 Unauthorized", id="refused"),
        pytest.param(b"http://elsewhere.example/", 302, "answers 302 Found", id="sent elsewhere"),
        pytest.param(b"<html>", 200, "answers no JSON", id="no JSON"),
        pytest.param([], 200, "the answer names neither root nor id", id="another shape"),
        pytest.param(b" " * (LARGEST_ANSWER_BYTES + 1), 200, "answers more than", id="too much"),
        pytest.param(b"[" * 200_000, 200, "answers no JSON", id="too deep"),
        pytest.param(b"[" * 600 + b"]" * 600, 200, "64 levels", id="deep enough to hurt"),
    ],
)
def test_what_cannot_be_asked_is_not_checked(
    server: StubServer, answer: Any, status: int, reason: str
) -> None:
    server.says("/v1/models/sonnet", answer, status)
    outcome = probe_model(SUBJECT, model(server), {"Authorization": SECRET})
    assert outcome.findings == ()
    (unknown,) = outcome.not_checked
    assert unknown.scope == "model sonnet of Deployment cx/support-rag"
    assert reason in unknown.reason
    assert SECRET not in unknown.reason


def test_a_server_that_is_not_there_is_not_checked() -> None:
    nobody = ExpectedModel("x", "sonnet", "y", "http://127.0.0.1:1")
    (unknown,) = probe_model(SUBJECT, nobody, {}).not_checked
    assert "does not answer" in unknown.reason


def test_a_provider_that_nobody_knows_is_not_checked() -> None:
    (unknown,) = probe_model(SUBJECT, ExpectedModel("Acme", "m", "m-1"), {}).not_checked
    assert unknown.reason == "no Models API is known of provider Acme: declare its baseUrl"


def test_the_providers_own_addresses_are_known() -> None:
    address = ExpectedModel("Anthropic", "claude-sonnet-4-6", "x").address
    assert address == "https://api.anthropic.com/v1/models/claude-sonnet-4-6"


class TestCard:
    def paths(self, served: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        return {
            format_path(each.path): (each.desired, each.live)
            for each in judge_card(SUBJECT, CARD, served).findings
        }

    def test_the_generated_card_is_in_sync_signed_or_not(self, server: StubServer) -> None:
        server.says(CARD_PATH, {**CARD, "signatures": [{"signature": "x"}]})
        outcome = probe_card(SUBJECT, CARD, server.url + "/", {})
        assert (outcome.findings, outcome.not_checked, outcome.asked) == ((), (), 1)

    def test_each_field_that_differs_is_a_finding(self) -> None:
        served = {
            "name": "support-rag",
            "version": "2.2.0",
            "skills": [{"id": "cite", "tags": []}, {"id": "pay", "tags": []}],
            "provider": {"organization": "x"},
        }
        assert self.paths(served) == {
            "probes.card.version": ("2.1.0", "2.2.0"),
            "probes.card.skills[id=answer]": (CARD["skills"][0], None),
            "probes.card.skills[id=pay]": (None, {"id": "pay", "tags": []}),
            "probes.card.provider": (None, {"organization": "x"}),
        }

    def test_the_order_of_skills_says_nothing(self) -> None:
        assert self.paths({**CARD, "skills": CARD["skills"][::-1]}) == {}

    @pytest.mark.parametrize("answer", [[], "text", 1])
    def test_what_is_no_card_is_not_checked(self, server: StubServer, answer: Any) -> None:
        server.says(CARD_PATH, answer)
        (unknown,) = probe_card(SUBJECT, CARD, server.url, {}).not_checked
        assert "answers no JSON object" in unknown.reason


@pytest.mark.parametrize("slow", [b"HTTP/1.1 200 OK\r\n\r\n{", b"HTTP/1.1 2", b""])
def test_a_server_that_trickles_keeps_no_scan_waiting(slow: bytes) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    stopped = threading.Event()

    def trickle() -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.sendall(slow)
            while not stopped.wait(0.02):
                connection.sendall(b" ")

    thread = threading.Thread(target=trickle, daemon=True)
    thread.start()
    began = time.monotonic()
    with pytest.raises(UnansweredError, match="no whole answer within"):
        get_json(f"http://127.0.0.1:{listening.getsockname()[1]}/", {}, 0.3)
    assert time.monotonic() - began < 3
    stopped.set()
    thread.join()
    listening.close()


def test_what_this_machine_serves_is_for_no_proxy(
    server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    server.says("/x", {"a": 1})
    assert get_json(f"{server.url}/x", {"Authorization": SECRET}) == {"a": 1}


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/latest", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/",
        "http://2852039166/", "http://100.100.100.200/", "http://[fd00:ec2::254]/",
    ],
)  # fmt: skip
def test_no_manifest_has_the_metadata_of_a_cloud_asked(address: str) -> None:
    asked = ExpectedModel("x", "sonnet", "y", address)
    (unknown,) = probe_model(SUBJECT, asked, {}).not_checked
    assert "which is asked only where an option names it" in unknown.reason


def test_an_address_is_shown_without_its_credentials() -> None:
    assert place_of("https://me:pw@h.example:1/p?token=x#y\x1b") == "https://h.example:1/p"
