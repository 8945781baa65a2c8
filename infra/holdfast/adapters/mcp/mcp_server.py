"""Asking an MCP server which tools it offers, with the official SDK.

The SDK is imported when it is needed: it is an extra (`holdfast[tools]`), and takes half a second.
"""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from holdfast.errors import HoldfastError
from holdfast.manifest.fleet.tool_contracts import ToolContract

if TYPE_CHECKING:
    from mcp import ClientSession

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


def list_tools(address: ServerAddress, *, timeout_seconds: float = 30) -> tuple[ToolContract, ...]:
    """Every tool that a server offers, sorted by name.

    Args:
        address: The server.
        timeout_seconds: Longest wait for the whole list.

    Raises:
        ToolServerError: the SDK is not installed, the server cannot be reached, does not speak the
            protocol, takes too long, or names a tool twice.
    """
    if importlib.util.find_spec("mcp") is None:
        raise ToolServerError(
            "asking a tool server needs the MCP SDK", remedy="install holdfast[tools]"
        )
    from mcp import McpError  # noqa: PLC0415 - an extra, and slow to import

    try:
        # In a thread of its own: the event loop of the caller, such as Pulumi's, is not touched.
        with ThreadPoolExecutor(1) as threads:
            tools = threads.submit(asyncio.run, _list_tools(address, timeout_seconds)).result()
    except TimeoutError as error:
        message = f"{address.url} did not list its tools within {timeout_seconds:g} s"
        raise ToolServerError(message, remedy="check that the server runs") from error
    except (ExceptionGroup, McpError, OSError, RuntimeError, ValueError) as error:
        # The SDK runs tasks of its own: what went wrong in them comes in groups.
        raise ToolServerError(
            f"{address.url} did not list its tools: {_reason(error)}",
            remedy="check its address, its transport and the headers it asks for",
        ) from error
    names = [tool.name for tool in tools]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ToolServerError(f"{address.url} lists the tool {twice!r} twice")
    return tuple(sorted(tools, key=lambda tool: tool.name))


async def _list_tools(address: ServerAddress, timeout_seconds: float) -> list[ToolContract]:
    async with asyncio.timeout(timeout_seconds), _session(address) as session:
        await session.initialize()
        found: list[ToolContract] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await session.list_tools(cursor)
            found += (
                ToolContract(tool.name, tool.description or "", tool.inputSchema)
                for tool in page.tools
            )
            cursor = page.nextCursor
            if not cursor:
                return found
    raise ToolServerError(f"{address.url} lists its tools on more than {MAX_PAGES} pages")


@asynccontextmanager
async def _session(address: ServerAddress) -> "AsyncIterator[ClientSession]":
    from mcp import ClientSession  # noqa: PLC0415 - an extra, and slow to import

    async with (
        _streams(address) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        yield session


@asynccontextmanager
async def _streams(address: ServerAddress) -> AsyncIterator[tuple[Any, ...]]:
    import httpx  # noqa: PLC0415 - comes with the SDK
    from mcp.client.sse import sse_client  # noqa: PLC0415 - slow to import
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - see above

    headers = dict(address.headers)
    if address.transport == "sse":
        async with sse_client(address.url, headers=headers) as streams:
            yield streams
        return
    async with (
        httpx.AsyncClient(headers=headers, timeout=None) as client,  # noqa: S113 - bound outside
        streamable_http_client(address.url, http_client=client) as streams,
    ):
        yield streams


def _reason(error: BaseException) -> str:
    """The first of the single errors in a group, in one line."""
    first = next(_leaves(error))
    # httpx adds a second line that explains the status code to beginners.
    text = " ".join(str(first).partition("\n")[0].split())
    return text or type(first).__name__


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
