"""An HTTP server that strangers cannot exhaust: bounded in connections, time and bytes.

When all places are taken, the oldest connection gives way: who asks and listens, such as a kubelet,
is answered while others hold theirs open.
"""

import io
import socket
import sys
import threading
import time
from contextlib import suppress
from http.client import HTTPException
from http.server import ThreadingHTTPServer
from typing import Any, BinaryIO, Final

MOST_CONNECTIONS: Final = 32
LONGEST_CONNECTION_SECONDS: Final = 15.0
MOST_HEADER_BYTES: Final = 64 << 10
_GIVING_WAY_SECONDS: Final = 1.0


class BoundedReader(io.BufferedIOBase):
    """Reads a request as far as it may be long."""

    def __init__(self, source: BinaryIO | io.BufferedIOBase) -> None:
        self._source = source
        self._left = MOST_HEADER_BYTES

    def allow(self, size: int) -> None:
        """Let so many bytes more be read."""
        self._left += size

    def readline(self, size: int | None = -1, /) -> bytes:
        """One line.

        Raises:
            HTTPException: the request is longer than it may be.
        """
        return self._taken(self._source.readline(self._bound(size)))

    def read(self, size: int | None = -1, /) -> bytes:
        """So many bytes, or all that are left.

        Raises:
            HTTPException: the request is longer than it may be.
        """
        return self._taken(self._source.read(self._bound(size)))

    def close(self) -> None:
        """Close what is read from."""
        self._source.close()

    def _bound(self, size: int | None) -> int:
        return self._left + 1 if size is None or size < 0 else min(size, self._left + 1)

    def _taken(self, part: bytes) -> bytes:
        self._left -= len(part)
        if self._left < 0:
            raise HTTPException(f"more than {MOST_HEADER_BYTES} bytes of headers")
        return part


class BoundedServer(ThreadingHTTPServer):
    """Answers each connection in a thread, of which there is a bounded number."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: Any) -> None:  # noqa: ANN401  (a class)
        """Bind the address.

        Raises:
            OSError: it is not to be had.
        """
        self._open: dict[socket.socket, float] = {}
        self._changing = threading.Lock()
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer in a thread; the oldest connection gives way where there is no place."""
        if not self._places.acquire(blocking=False):
            self._cut_off(older_than=0.0, most=1)
            if not self._places.acquire(timeout=_GIVING_WAY_SECONDS):
                self.shutdown_request(request)
                return
        with self._changing:
            self._open[request] = time.monotonic()
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # No thread is to be had: its own end would have given the place back.
            self._leave(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer, and give the place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._leave(request)

    def service_actions(self) -> None:
        """End what lasts too long: a client that sends a byte now and then is never silent."""
        self._cut_off(older_than=LONGEST_CONNECTION_SECONDS, most=MOST_CONNECTIONS)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """A client that has gone, or sends nonsense, is no error of ours: no traceback for it."""
        if not isinstance(sys.exception(), (OSError, HTTPException, ValueError)):
            super().handle_error(request, client_address)

    def _leave(self, request: Any) -> None:  # noqa: ANN401  (a socket)
        with self._changing:
            self._open.pop(request, None)
        self._places.release()

    def _cut_off(self, *, older_than: float, most: int) -> None:
        now = time.monotonic()
        with self._changing:
            late = [each for each, since in self._open.items() if now - since >= older_than]
            for connection in late[:most]:
                self._open.pop(connection)
                # It may have ended by itself.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
