"""A live server is asked over the real protocol; silence is an error, never an empty list."""

import pytest
from holdfast.adapters.mcp.mcp_server import ServerAddress, ToolServerError, read_contract
from holdfast.manifest.fleet.tool_contracts import ToolContract

from tests.mcp_server import running_mcp_server

SCHEMA = {
    "properties": {"namespace": {"title": "Namespace", "type": "string"}},
    "required": ["namespace"],
    "title": "anythingArguments",
    "type": "object",
}
RESULT = {
    "properties": {"result": {"title": "Result", "type": "string"}},
    "required": ["result"],
    "title": "anythingOutput",
    "type": "object",
}


def test_a_server_lists_its_tools_sorted_by_name() -> None:
    with running_mcp_server() as server:
        server.offer("get_pods", "Lists pods.")
        server.offer("delete_pod", "Deletes a pod.")
        assert read_contract(ServerAddress(server.url)).tools == (
            ToolContract("delete_pod", "Deletes a pod.", SCHEMA, output_schema=RESULT),
            ToolContract("get_pods", "Lists pods.", SCHEMA, output_schema=RESULT),
        )


def test_a_server_is_asked_over_sse_when_it_speaks_that() -> None:
    with running_mcp_server(is_sse=True) as server:
        server.offer("get_pods", "Lists pods.")
        address = ServerAddress(server.url.replace("/mcp", "/sse"), "sse")
        assert [tool.name for tool in read_contract(address).tools] == ["get_pods"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        pytest.param("http://127.0.0.1:1/mcp", "did not list its tools: ", id="nobody listens"),
        pytest.param("http://tools.invalid/mcp", "did not list its tools: ", id="unknown host"),
    ],
)
def test_a_server_that_cannot_be_reached_is_an_error(url: str, words: str) -> None:
    with pytest.raises(ToolServerError, match=words):
        read_contract(ServerAddress(url, headers={"Authorization": "Bearer hidden"}))


def test_an_address_without_the_protocol_is_an_error_that_shows_no_header() -> None:
    with running_mcp_server() as server:
        address = ServerAddress(f"{server.url}/nothing", headers={"X-Key": "hidden"})
        with pytest.raises(ToolServerError) as caught:
            read_contract(address)
    assert "hidden" not in f"{caught.value}{address}"


def test_a_server_that_never_answers_is_given_up() -> None:
    with running_mcp_server(is_sse=True) as server:
        # The stream of an SSE server opens and stays silent to who posts elsewhere.
        address = ServerAddress(server.url.replace("/mcp", "/sse"), "streamable-http")
        with pytest.raises(ToolServerError, match="did not list its tools"):
            read_contract(address, timeout_seconds=0.5)
