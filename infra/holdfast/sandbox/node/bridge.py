"""The only ways between the control plane, on the host's loopback, and the node's own network.

A socket stays in the network in which it was made, so one process serves both:

- in the node's network it listens for the API server's port and joins what connects to the host;
- on a Unix socket of the host it answers HTTP CONNECT, as the API server's egress selector asks,
  and connects from within the node's network; to loopback addresses (webhooks) on the host.
"""

import asyncio
import ctypes
import os
import socket
from contextlib import suppress
from pathlib import Path

CONNECT_SECONDS = 10.0
_BLOCK_BYTES = 64 * 1024
_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Networks:
    """Makes sockets in the network of another process.

    Args:
        pid: A process of the node, as this process numbers it.

    Raises:
        OSError: it has ended, or this user may not enter its network.
    """

    def __init__(self, pid: int) -> None:
        self._here = os.open("/proc/self/ns/net", os.O_RDONLY)
        self._there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)

    def socket_there(self) -> socket.socket:
        """A TCP socket in the node's network."""
        _enter(self._there)
        try:
            return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        finally:
            _enter(self._here)


class Bridge:
    """Both ways, served until the task that runs `serve` is cancelled.

    Args:
        networks: Reaches the node's network.
        host: Address of the API server on the host.
        port: Port of the API server, on the host and in the node's network.
    """

    def __init__(self, networks: Networks, host: str, port: int) -> None:
        self._networks = networks
        self._host = host
        self._port = port

    async def serve(self, addresses: tuple[str, ...], unix_socket: Path) -> None:
        """Listen in the node's network on these addresses, and on a Unix socket of the host.

        Raises:
            OSError: an address is taken.
        """
        for address in addresses:
            listening = self._networks.socket_there()
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((address, self._port))
            await asyncio.start_server(self._from_node, sock=listening)
        unix_socket.unlink(missing_ok=True)
        mask = os.umask(0o177)
        try:
            await asyncio.start_unix_server(self._from_api_server, unix_socket)
        finally:
            os.umask(mask)

    async def _from_node(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            api_server = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.close()
            return
        await _join((reader, writer), api_server)

    async def _from_api_server(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            host, _, port = request.split()[1].decode().rpartition(":")
            pod = await self._connect(host.strip("[]"), int(port))
        except (OSError, ValueError, IndexError, asyncio.IncompleteReadError) as error:
            writer.write(f"HTTP/1.1 502 Bad Gateway\r\n\r\n{error}".encode())
            writer.close()
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await _join((reader, writer), pod)

    async def _connect(self, host: str, port: int) -> Stream:
        made = socket.socket() if host.startswith("127.") else self._networks.socket_there()
        made.setblocking(False)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await asyncio.get_running_loop().sock_connect(made, (host, port))
        except OSError:
            made.close()
            raise
        return await asyncio.open_connection(sock=made)


async def _join(left: Stream, right: Stream) -> None:
    await asyncio.gather(_pump(left[0], right[1]), _pump(right[0], left[1]))
    for _, writer in (left, right):
        writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_BLOCK_BYTES):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        return
    writer.close()


def _enter(handle: int) -> None:
    if _LIBC.setns(handle, _CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "setns")
