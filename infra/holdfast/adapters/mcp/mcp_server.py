"""Reading the contract of an MCP server: its tools and its instructions.

A server is asked in the protocol of 2026-07-28, and in the earlier one with the official SDK where
it does not speak that. The SDK is imported when it is needed: it is an extra (`holdfast[tools]`),
and takes half a second.
"""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from holdfast.adapters.http.http_answer import place_of
from holdfast.errors import HoldfastError, InputError
from holdfast.kube.nesting import is_deeper_than
from holdfast.kube.text import safe_text
from holdfast.manifest.fleet.tool_contracts import ServerContract, ToolContract

if TYPE_CHECKING:
    import httpx
    from mcp import ClientSession
    from mcp.types import ListToolsResult, Tool

    from holdfast.adapters.mcp.bounded_http import Allowance

DEEPEST_SCHEMA: Final = 64
_LONGEST_REASON_CHARACTERS: Final = 300
MAX_PAGES = 100
"""Pages of tools that a server may make of its list."""


class ToolServerError(HoldfastError):
    """A tool server did not say which tools it offers."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is and how it is spoken to.

    Attributes:
        headers: Sent with each request; may hold credentials, so they are never shown.
    """

    url: str
    transport: Literal["sse", "streamable-http"] = "streamable-http"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_contract(address: ServerAddress, *, timeout_seconds: float = 30) -> ServerContract:
    """What a server promises: every tool that it offers, and its instructions.

    Args:
        address: The server.
        timeout_seconds: Longest wait for the whole.

    Raises:
        InputError: the SDK is not installed.
        ToolServerError: the server cannot be reached, does not speak the protocol, takes too long,
            sends too much, names a tool twice, or nests a schema too deeply.
    """
    if importlib.util.find_spec("mcp") is None:
        raise InputError(
            "asking a tool server needs the MCP SDK", remedy="run `pip install 'holdfast[tools]'`"
        )
    import httpx  # noqa: PLC0415 - comes with the SDK
    from mcp import McpError  # noqa: PLC0415 - an extra, and slow to import

    from holdfast.adapters.mcp.bounded_http import Allowance  # noqa: PLC0415 - imports httpx

    place = place_of(address.url)
    allowance = Allowance(lambda: None)
    try:
        # In a thread of its own: the event loop of the caller, such as Pulumi's, is not touched.
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(asyncio.run, _read(address, timeout_seconds, allowance))
            contract = asked.result()
    except (
        ExceptionGroup,
        McpError,
        OSError,
        RuntimeError,
        TimeoutError,
        ValueError,
        httpx.HTTPError,
    ) as error:
        raise _unread(place, error, allowance.problem, timeout_seconds) from error
    _ensure_readable(place, contract)
    return contract


def _unread(place: str, error: Exception, problem: str, timeout_seconds: float) -> ToolServerError:
    """Why a server could not be read."""
    if problem:
        return ToolServerError(f"{place} {problem}")
    if isinstance(error, TimeoutError):
        message = f"{place} did not list its tools within {timeout_seconds:g} s"
        return ToolServerError(message, remedy="check that the server runs")
    # The SDK runs tasks of its own: what went wrong in them comes in groups.
    return ToolServerError(
        f"{place} did not list its tools: {_reason(error)}",
        remedy="check its address, its transport and the headers it asks for",
    )


def _ensure_readable(place: str, contract: ServerContract) -> None:
    """Raises ToolServerError on what could not be compared, or recursed into."""
    names = [tool.name for tool in contract.tools]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ToolServerError(f"{place} lists the tool {safe_text(twice)!r} twice")
    for tool in contract.tools:
        for value in (tool.input_schema, tool.output_schema, tool.annotations):
            if is_deeper_than(value, DEEPEST_SCHEMA):
                said = safe_text(tool.name)
                raise ToolServerError(
                    f"{place} nests the schema of {said!r} deeper than {DEEPEST_SCHEMA}"
                )


async def _read(
    address: ServerAddress, timeout_seconds: float, allowance: "Allowance"
) -> ServerContract:
    async with asyncio.timeout(timeout_seconds) as timeout:
        now = asyncio.get_running_loop().time
        allowance.end = lambda: timeout.reschedule(now())
        if address.transport == "streamable-http":
            contract = await _read_stateless(address, allowance)
            if contract is not None:
                return contract
        async with _session(address, allowance) as session:
            welcome = await session.initialize()
            tools = await _all_tools(address, session.list_tools)
            return ServerContract.of(tools, welcome.instructions or "")


async def _read_stateless(address: ServerAddress, allowance: "Allowance") -> ServerContract | None:
    """The contract by the protocol of 2026-07-28; None where the server does not speak it."""
    from holdfast.adapters.mcp.bounded_http import bounded_client  # noqa: PLC0415 - imports httpx
    from holdfast.adapters.mcp.stateless import (  # noqa: PLC0415 - imports the SDK
        EarlierProtocolError,
        StatelessServer,
    )

    async with bounded_client(address.url, address.headers, allowance, None) as client:
        server = StatelessServer(client, address.url)
        try:
            instructions = await server.instructions()
        except EarlierProtocolError:
            return None
        return ServerContract.of(await _all_tools(address, server.page), instructions)


async def _all_tools(
    address: ServerAddress, page_at: "Callable[[str | None], Awaitable[ListToolsResult]]"
) -> list[ToolContract]:
    found: list[ToolContract] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await page_at(cursor)
        found += map(_contract, page.tools)
        cursor = page.nextCursor
        if not cursor:
            return found
    raise ToolServerError(f"{place_of(address.url)} lists its tools on more than {MAX_PAGES} pages")


def _contract(tool: "Tool") -> ToolContract:
    annotations = tool.annotations.model_dump(exclude_none=True) if tool.annotations else {}
    return ToolContract(
        tool.name,
        tool.description or "",
        tool.inputSchema,
        tool.title or "",
        tool.outputSchema,
        annotations,
    )


@asynccontextmanager
async def _session(
    address: ServerAddress, allowance: "Allowance"
) -> "AsyncIterator[ClientSession]":
    from mcp import ClientSession  # noqa: PLC0415 - an extra, and slow to import

    async with (
        _streams(address, allowance) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        yield session


@asynccontextmanager
async def _streams(
    address: ServerAddress, allowance: "Allowance"
) -> AsyncIterator[tuple[Any, ...]]:
    from mcp.client.sse import sse_client  # noqa: PLC0415 - slow to import
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - see above

    from holdfast.adapters.mcp.bounded_http import bounded_client  # noqa: PLC0415 - imports httpx

    def client_of(
        headers: Mapping[str, str] | None = None,
        timeout: "httpx.Timeout | None" = None,
        auth: "httpx.Auth | None" = None,
    ) -> "httpx.AsyncClient":
        # The headers of the address are those that are sent; there are no others.
        del headers, auth
        return bounded_client(address.url, address.headers, allowance, timeout)

    if address.transport == "sse":
        async with sse_client(address.url, httpx_client_factory=client_of) as streams:
            yield streams
        return
    async with (
        client_of() as client,  # bounded outside
        streamable_http_client(address.url, http_client=client) as streams,
    ):
        yield streams


def _reason(error: BaseException) -> str:
    """The first of the single errors in a group, in one line."""
    first = next(_leaves(error))
    # httpx adds a second line that explains the status code to beginners.
    text = " ".join(str(first).partition("\n")[0].split())
    return safe_text(text, _LONGEST_REASON_CHARACTERS) or type(first).__name__


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
