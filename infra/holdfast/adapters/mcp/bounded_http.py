"""HTTP for one conversation with a tool server: bounded in bytes, and to the server that was meant.

Imports httpx, which comes with the SDK: this module is imported when a server is asked.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from holdfast.adapters.http.peers import is_loopback_url

MOST_BYTES: Final = 4 << 20
"""All answers of one conversation together; the descriptions of a hundred tools are 200 kB."""


@dataclass
class Allowance:
    """What a server may still send.

    Attributes:
        end: Ends the conversation at once: the SDK would wait for an answer that never comes.
        problem: Why it was ended; empty while it goes on.
    """

    end: Callable[[], None]
    left: int = MOST_BYTES
    problem: str = ""

    def refuse(self, problem: str) -> httpx.TransportError:
        """End the conversation; the error to raise."""
        self.problem = self.problem or problem
        self.end()
        return httpx.ReadError(problem)

    def take(self, size: int) -> None:
        """Count what came.

        Raises:
            httpx.TransportError: it is too much.
        """
        self.left -= size
        if self.left < 0:
            raise self.refuse(f"sends more than {MOST_BYTES} bytes")


@dataclass
class _BoundedStream(httpx.AsyncByteStream):
    source: httpx.AsyncByteStream
    allowance: Allowance

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self.source:
            self.allowance.take(len(part))
            yield part

    async def aclose(self) -> None:
        """Close what is read from."""
        await self.source.aclose()


@dataclass
class BoundedTransport(httpx.AsyncBaseTransport):
    """Sends what is asked for uncompressed, and counts the answers.

    Attributes:
        origin: The one server that is spoken to: an answer may name other addresses.
        headers: For that server.
    """

    allowance: Allowance
    origin: httpx.URL
    headers: Mapping[str, str] = field(repr=False)
    inner: httpx.AsyncBaseTransport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request.

        Raises:
            httpx.TransportError: it is for another server, or the answer is not as asked for.
        """
        if _origin(request.url) != _origin(self.origin):
            raise self.allowance.refuse(f"leads to another server, {request.url.host}")
        # What was compressed may be a thousand times as large.
        request.headers["Accept-Encoding"] = "identity"
        request.headers.update(self.headers)
        response = await self.inner.handle_async_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            await response.aclose()
            raise self.allowance.refuse("answers compressed, unasked")
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _BoundedStream(response.stream, self.allowance)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self.inner.aclose()


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def bounded_client(
    url: str, headers: Mapping[str, str], allowance: Allowance, timeout: httpx.Timeout | None
) -> httpx.AsyncClient:
    """A client for one server; it follows no redirect.

    Args:
        url: Of the server.
        headers: Sent with each request to it.
        allowance: Of the conversation.
        timeout: Of each step; None where the whole is bounded.
    """
    inner = httpx.AsyncHTTPTransport(proxy=_proxy_for(url))
    transport = BoundedTransport(allowance, httpx.URL(url), headers, inner)
    return httpx.AsyncClient(
        transport=transport, timeout=timeout, follow_redirects=False, trust_env=False
    )


def _proxy_for(url: str) -> str | None:
    """The proxy of the environment; none for this machine, whatever the environment says."""
    parts = urlsplit(url)
    if is_loopback_url(url) or proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)
