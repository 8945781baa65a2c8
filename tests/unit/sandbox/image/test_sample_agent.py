"""The program of the sandbox's image, over HTTP: an agent, a tool server, a model, metrics."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from holdfast.sandbox.image.sample_agent import Agent, Handler, Server


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """Address of an agent whose tool server and model are it itself."""
    server = Server(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}"
    config = {"prompt": {"systemMessageFile": str(tmp_path / "system.md")}}
    config["tools"] = [{"type": "agent"}, {"url": f"{address}/mcp"}]  # type: ignore[assignment]
    (tmp_path / "agent.json").write_text(json.dumps(config))
    (tmp_path / "system.md").write_text("Be brief.")
    (tmp_path / "key").write_text("secret\n")
    (tmp_path / "card.json").write_text('{"name": "declared"}')
    Handler.agent = Agent(
        {
            "AGENT_CONFIG_FILE": str(tmp_path / "agent.json"),
            "AGENT_CARD_FILE": str(tmp_path / "card.json"),
            "MODEL_BASE_URL": f"{address}/v1",
            "MODEL_API_KEY_FILE": str(tmp_path / "key"),
            "MODEL_NAME": "tiny-1",
        }
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield address
    server.shutdown()
    server.server_close()
    thread.join()


def ask(address: str, body: object = None) -> tuple[int, str]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=5)
    with closing(connection):
        content = json.dumps(body) if body else None
        connection.request("POST" if body else "GET", parts.path or "/", content)
        response = connection.getresponse()
        return response.status, response.read().decode()


def get(address: str) -> str:
    return ask(address)[1]


def post(address: str, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    answered: dict[str, Any] = json.loads(ask(address, call)[1])
    return answered


def test_an_answer_comes_from_the_tool_server_and_the_model(url: str) -> None:
    message = {"parts": [{"kind": "text", "text": "how?"}]}
    answered = post(url, "message/send", {"message": message})["result"]

    said = json.loads(answered["parts"][0]["text"])
    assert said["tool"] == "found how?"
    assert said["model"] == "[Be brief.] how?"
    assert said["prompt"] == "Be brief."


@pytest.mark.parametrize(
    ("method", "part", "expected"),
    [
        ("initialize", "protocolVersion", "2025-06-18"),
        ("server/discover", "supportedVersions", ["2026-07-28", "2025-06-18"]),
    ],
    ids=["with a handshake", "without"],
)
def test_the_tool_server_speaks_both_eras(
    method: str, part: str, expected: object, url: str
) -> None:
    assert post(f"{url}/mcp", method)["result"][part] == expected
    (tool,) = post(f"{url}/mcp", "tools/list")["result"]["tools"]
    assert tool["name"] == "search_docs"


def test_unknown_methods_are_an_error(url: str) -> None:
    assert post(f"{url}/mcp", "tools/guess")["error"]["code"] == -32601


def test_serves_the_declared_card_and_models(url: str) -> None:
    assert json.loads(get(f"{url}/.well-known/agent-card.json"))["name"] == "declared"
    assert json.loads(get(f"{url}/v1/models"))["data"][0]["id"] == "tiny-1"


def test_counts_requests(url: str) -> None:
    get(f"{url}/anything")

    assert 'agent_requests_total{path="/anything"} 1\n' in get(f"{url}/metrics")


def test_readiness_can_be_taken_away_and_liveness_stays(url: str) -> None:
    assert ask(f"{url}/readiness", {"ready": False})[0] == 200

    assert ask(f"{url}/readyz")[0] == 503
    assert ask(f"{url}/healthz")[0] == 200
