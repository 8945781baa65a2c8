"""Bodies of answers: read whole within a time or line by line, decoded only as far as needed."""

import contextlib
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import urllib3

from holdfast.adapters.cluster.api_error import BrokenStreamError, SilentStreamError
from holdfast.kube.objects import KubeObject

CHUNK_BYTES: Final = 1 << 18
LONGEST_LINE_BYTES: Final = 16 << 20
"""The largest object is about 3 MB; what is longer is no line of a watch."""


class TooSlowError(urllib3.exceptions.HTTPError):
    """An answer that trickles: each byte came in time, the whole did not."""


class TooLargeError(urllib3.exceptions.HTTPError):
    """An answer of more bytes than are read."""


def whole_body(
    response: urllib3.BaseHTTPResponse, longest_seconds: float, most_bytes: float = math.inf
) -> bytes:
    """Everything, or an error: never a part.

    Raises:
        urllib3.exceptions.HTTPError: the connection broke, it took too long, or it is too large.
    """
    deadline = time.monotonic() + longest_seconds
    parts = []
    size = 0
    while chunk := response.read1(CHUNK_BYTES):
        parts.append(chunk)
        size += len(chunk)
        if size > most_bytes:
            response.close()
            raise TooLargeError(f"more than {most_bytes} bytes")
        if time.monotonic() > deadline:
            response.close()
            raise TooSlowError(f"no whole answer within {longest_seconds:g} s")
    return parts[0] if len(parts) == 1 else b"".join(parts)


class LineStream:
    """The lines of an answer that goes on until it is ended."""

    def __init__(self, response: urllib3.BaseHTTPResponse, silence_seconds: float) -> None:
        """Prepare to read.

        Args:
            response: Of which nothing was read; its socket gives up after `silence_seconds`, too.
            silence_seconds: So long without a whole line, and the other side counts as gone.
        """
        self._response = response
        self._silence_seconds = silence_seconds

    def __iter__(self) -> Iterator[bytes]:
        """Each line that is not empty.

        Raises:
            SilentStreamError: no line for too long.
            BrokenStreamError: the connection broke, or sends what is no line.
        """
        rest = b""
        last_line = time.monotonic()
        while chunk := self._chunk():
            *lines, rest = (rest + chunk).split(b"\n")
            now = time.monotonic()
            if lines:
                last_line = now
            elif now - last_line > self._silence_seconds:
                raise self._silence()
            if len(rest) > LONGEST_LINE_BYTES:
                raise BrokenStreamError("a line without an end")
            yield from filter(None, lines)

    def _chunk(self) -> bytes:
        try:
            return self._response.read1(CHUNK_BYTES)
        except urllib3.exceptions.ReadTimeoutError as error:
            raise self._silence() from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise BrokenStreamError(f"cut off ({type(error).__name__})") from error

    def _silence(self) -> SilentStreamError:
        return SilentStreamError(f"no data for {self._silence_seconds:g} s")

    def end(self) -> None:
        """End the stream from any thread: its reader comes to the end."""
        # An error says that it has ended already.
        with contextlib.suppress(ValueError, RuntimeError, OSError):
            self._response.shutdown()

    def close(self) -> None:
        """Give the connection up; by the thread that reads."""
        self._response.close()


RawObject = dict[str, msgspec.Raw]
"""An object of which only the names of its uppermost fields are decoded."""


class ListMeta(msgspec.Struct, rename="camel"):
    """Metadata of a page."""

    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None
    resource_version: str = ""


class Page(msgspec.Struct):
    """One page of a LIST."""

    metadata: ListMeta
    items: list[RawObject] | None = None


class Head(msgspec.Struct, rename="camel"):
    """What identifies an object and its version."""

    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class WatchLine(msgspec.Struct):
    """One event of a WATCH: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    type: str
    object: RawObject


_KINDS_WITH_STATUS: Final = frozenset({"PersistentVolumeClaim", "PersistentVolume"})
"""Whether a claim and a volume are bound to each other, only their status proves."""

decode_page: Final = msgspec.json.Decoder(Page).decode
decode_head: Final = msgspec.json.Decoder(Head).decode
decode_line: Final = msgspec.json.Decoder(WatchLine).decode
decode_raw: Final = msgspec.json.Decoder(RawObject).decode


def decode_object(
    fields: RawObject, api_version: str, kind: str, *, keeps_status: bool = False
) -> KubeObject:
    """One object, its managed fields still raw; without status unless that is needed."""
    keeps_status = keeps_status or kind in _KINDS_WITH_STATUS
    left_out = {"apiVersion", "kind"} if keeps_status else {"status", "apiVersion", "kind"}
    one: KubeObject = {"apiVersion": api_version, "kind": kind}
    for key, raw in fields.items():
        if key == "metadata":
            one["metadata"] = decode_metadata(decode_raw(raw))
        elif key not in left_out:
            one[key] = msgspec.json.decode(raw)
    return one


def decode_metadata(fields: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    """Metadata whose managed fields are left as raw JSON."""
    return {
        # Bytes of its own: a part of the page would keep the whole page in memory.
        name: msgspec.Raw(bytes(value)) if name == "managedFields" else msgspec.json.decode(value)
        for name, value in fields.items()
    }
