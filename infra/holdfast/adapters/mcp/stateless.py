"""The Model Context Protocol of 2026-07-28: each request stands alone, without a session.

A server is asked `server/discover`; one of the earlier protocol does not know it. Only the part
that reads a server's contract is spoken here, until the locked SDK speaks this protocol.

Source: Model Context Protocol 2026-07-28, "Versioning", "Discovery" and "Streamable HTTP".
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
import msgspec
from mcp.types import ListToolsResult
from pydantic import ValidationError

from holdfast.kube.text import safe_text

VERSION: Final = "2026-07-28"
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "holdfast", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_UNSUPPORTED_VERSION: Final = -32022
_LONGEST_TEXT: Final = 200
_UNAUTHORIZED: Final = frozenset({401, 403})


class StatelessError(ValueError):
    """A server of this protocol answers something else than it should."""


class EarlierProtocolError(Exception):
    """The server does not speak this protocol."""


@dataclass(frozen=True)
class _RpcAnswer:
    """What one request came to: a result, or an error."""

    result: Mapping[str, Any] | None
    code: int = 0
    message: str = ""
    data: Any = None


@dataclass
class StatelessServer:
    """One server, spoken to with a client that bounds what it sends."""

    client: httpx.AsyncClient
    url: str
    requests: int = 0

    async def instructions(self) -> str:
        """What the server says about itself.

        Raises:
            EarlierProtocolError: it is to be asked in the earlier protocol.
            StatelessError: it speaks neither this version nor the earlier protocol.
            httpx.HTTPError: it cannot be reached, or refuses the credentials.
        """
        try:
            answer = await self._ask("server/discover", {})
        except StatelessError as error:
            # Who knows the method answers it well; what else comes is for the earlier protocol.
            raise EarlierProtocolError(str(error)) from error
        if answer.result is None:
            supported = _texts(_mapping(answer.data).get("supported"))
            if answer.code == _UNSUPPORTED_VERSION and supported:
                _refuse_newer_only(supported)
            raise EarlierProtocolError(answer.message)
        supported = _texts(answer.result.get("supportedVersions"))
        if VERSION not in supported:
            _refuse_newer_only(supported)
            raise EarlierProtocolError("it lists no version of this protocol")
        said = answer.result.get("instructions")
        return said if isinstance(said, str) else ""

    async def page(self, cursor: str | None) -> ListToolsResult:
        """One page of the server's tools.

        Raises:
            StatelessError: it answers something else.
            httpx.HTTPError: it cannot be reached, or refuses the credentials.
        """
        answer = await self._ask("tools/list", {"cursor": cursor} if cursor else {})
        if answer.result is None:
            said = safe_text(answer.message, _LONGEST_TEXT)
            raise StatelessError(f"tools/list: error {answer.code}: {said}")
        if answer.result.get("resultType", "complete") != "complete":
            raise StatelessError("tools/list asks back instead of answering")
        try:
            return ListToolsResult.model_validate(answer.result)
        except ValidationError as error:
            raise StatelessError("tools/list: the answer is no list of tools") from error

    async def _ask(self, method: str, params: Mapping[str, Any]) -> _RpcAnswer:
        self.requests += 1
        number = self.requests
        body = {"jsonrpc": "2.0", "id": number, "method": method}
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
        }
        content = msgspec.json.encode(body | {"params": {**params, "_meta": _META}})
        async with self.client.stream(
            "POST", self.url, content=content, headers=headers
        ) as response:
            if response.status_code in _UNAUTHORIZED:
                response.raise_for_status()
            if response.is_redirect:
                raise StatelessError(f"answers with a redirect, {response.status_code}")
            async for text in _messages(response):
                try:
                    message = _mapping(msgspec.json.decode(text))
                except (msgspec.DecodeError, RecursionError) as error:
                    status = f"{method}: status {response.status_code}, and no JSON-RPC"
                    raise StatelessError(status) from error
                if (answer := _answer_to(number, message)) is not None:
                    return answer
        raise StatelessError(f"{method}: no answer in what it sends")


async def _messages(response: httpx.Response) -> AsyncIterator[str]:
    """The messages of a response: its body, or the data of each event of a stream."""
    if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
        yield (await response.aread()).decode(errors="replace")
        return
    data: list[str] = []
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def _answer_to(number: int, message: Mapping[str, Any]) -> _RpcAnswer | None:
    """The answer to a request; None for a notification.

    Raises:
        StatelessError: it is the answer to another request, or none at all.
    """
    if "method" in message and "id" not in message:
        return None
    error = _mapping(message.get("error"))
    # A server that could not read a request cannot name it: null, and only with an error.
    named = message.get("id")
    is_ours = type(named) is int and named == number
    if message.get("jsonrpc") != "2.0" or not (is_ours or (named is None and error)):
        raise StatelessError("it answers another request than the one that was sent")
    if error:
        code = error.get("code")
        said = str(error.get("message", ""))
        return _RpcAnswer(None, code if isinstance(code, int) else 0, said, error.get("data"))
    if not isinstance(message.get("result"), Mapping):
        raise StatelessError("the answer has no result")
    return _RpcAnswer(message["result"])


def _refuse_newer_only(supported: list[str]) -> None:
    """Versions are dates: a server of the earlier protocol as well lists one before this."""
    if supported and VERSION not in supported and min(supported) > VERSION:
        listed = safe_text(", ".join(supported[:5]), _LONGEST_TEXT)
        raise StatelessError(f"speaks MCP {listed}, and neither {VERSION} nor an earlier version")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
