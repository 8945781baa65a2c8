"""LIST, then WATCH with bookmarks: one scope, in a thread of its own, until it is stopped.

Laws: nothing that happens between two streams is missed, because each begins at the version where
the last one ended, and a version that the server no longer has (410) begins again with a LIST; a
stream that says nothing, not even a bookmark, counts as dead, and its scope as unknown; no error
ends a reflector: whatever it is, the scope counts as unknown, and LIST and WATCH back off until a
stream has lived. Source: Kubernetes documentation, "API concepts", Efficient detection of changes;
client-go, tools/cache: Reflector.
"""

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.api_error import (
    ApiError,
    BrokenStreamError,
    ExpiredError,
    SilentStreamError,
    asked_seconds,
    fault_text,
)
from holdfast.adapters.cluster.bodies import (
    LineStream,
    RawObject,
    decode_head,
    decode_line,
    decode_object,
)
from holdfast.adapters.cluster.changes import (
    Change,
    Moved,
    Snapshot,
    StreamInterrupted,
    WatchLost,
    WatchRecovered,
    WatchScope,
)
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.kind_reader import KindReader, unread_reason
from holdfast.errors import ClusterError, HoldfastError
from holdfast.kube.objects import Identity

SILENCE_SECONDS: Final = 150.0
"""The server sends a bookmark about once a minute: twice none is no quiet cluster."""

STREAM_SECONDS: Final = 300.0
LIVED_SECONDS: Final = 10.0
"""A stream that was open for so long has lived: the next failure is the first one again."""

SUSPICIOUS_FAILURES: Final = 3
"""After so many broken streams in a row only a LIST is believed."""

LOST_FAILURES: Final = 5
"""After so many streams in a row that did not live, the scope counts as unknown."""

LONGEST_ASKED_SECONDS: Final = 30.0
_GONE: Final = 410


@dataclass
class WatchConfig:
    """What all watches of one cluster share.

    Attributes:
        emit: Takes each change; called from many threads.
        known: Version of each object that was reported last; read only here.
        silence_seconds: After that much silence a stream counts as dead.
        stopping: Set once, when everything is to end.
    """

    client: ApiClient
    emit: Callable[[Change], None]
    known: Mapping[Identity, str]
    silence_seconds: float = SILENCE_SECONDS
    stopping: threading.Event = field(default_factory=threading.Event)


class Reflector:
    """Follows one scope until it is stopped."""

    def __init__(self, place: WatchScope, shared: WatchConfig, version: str = "") -> None:
        """Prepare to follow.

        Args:
            place: What to follow.
            shared: The cluster, and who hears of changes.
            version: Where to go on; empty to begin with a LIST.
        """
        self.place = place
        self._shared = shared
        self._version = version
        self._has_listed = bool(version)
        self._is_lost = False
        self._is_flapping = False
        self._failures = 0
        self._opened_at: float | None = None
        self._stream: LineStream | None = None
        self._is_to_list_again = threading.Event()

    def run(self) -> None:
        """Follow the scope until the watch is stopped."""
        while not self._shared.stopping.is_set():
            self._opened_at = None
            error = self._attempt()
            if self._is_to_list_again.is_set():
                continue
            self._failures = 0 if self._has_lived else self._failures + 1
            if self._failures >= SUSPICIOUS_FAILURES and isinstance(error, BrokenStreamError):
                self._version = ""
            if self._failures >= LOST_FAILURES and not (self._is_lost or self._is_flapping):
                self._is_flapping = True
                self._tell(WatchLost(self.place, "its streams end at once"))
            self._shared.stopping.wait(self._wait_seconds(error))

    def _attempt(self) -> Exception | None:
        """LIST where that is needed, then follow one stream; returns what ended it early."""
        try:
            if not self._version or self._is_to_list_again.is_set():
                self._is_to_list_again.clear()
                self._list()
            self._follow()
        except ExpiredError as error:
            self._version = ""
            self._tell(StreamInterrupted(self.place, str(error)))
            return error
        except SilentStreamError as error:
            self._version = ""
            self._lose(str(error))
            return error
        except BrokenStreamError as error:
            if not self._is_to_list_again.is_set():
                self._tell(StreamInterrupted(self.place, str(error)))
            return error
        except HoldfastError as error:
            self._lose(self._reason_of(error))
            return error
        except Exception as error:
            # A defect of ours, or an answer that no server gives: what is there is not known.
            self._version = ""
            self._lose(fault_text(error))
            return error
        return None

    @property
    def _has_lived(self) -> bool:
        """Whether the stream that is open, or was open last, counts as a good one."""
        if self._opened_at is None:
            return False
        needed = min(LIVED_SECONDS, self._shared.silence_seconds / 4)
        return time.monotonic() - self._opened_at >= needed

    def _wait_seconds(self, error: Exception | None) -> float:
        asked = asked_seconds(error) if isinstance(error, ClusterError) else 0.0
        return max(min(asked, LONGEST_ASKED_SECONDS), backoff.STREAMS.seconds(self._failures))

    def list_again(self) -> None:
        """Begin again with a LIST, from any thread: what the scope holds is in doubt."""
        self._is_to_list_again.set()
        self.stop()

    def stop(self) -> None:
        """End the stream that is open, if one is."""
        stream = self._stream
        if stream is not None:
            stream.end()

    def _list(self) -> None:
        place, kind = self.place, self.place.kind
        assert kind.entry is not None  # noqa: S101  (what is not served is not followed)
        started = time.monotonic()
        question = replace(kind.question, known=self._shared.known)
        reader = KindReader(self._shared.client, kind.entry, place.refs, question)
        failure = reader.list_place(place.namespace, place.refs)
        if failure is not None:
            raise failure
        if kind.is_declared:
            reader.confirm_missing(kind.entry)
        self._version = reader.listing.versions[place.namespace]
        self._tell(Snapshot(place, reader.listing, started, is_restart=self._has_listed))
        self._has_listed, self._is_lost, self._is_flapping = True, False, False

    def _follow(self) -> None:
        """Tell what one stream says; returns when the server ends it in order.

        Raises:
            ExpiredError: only a LIST helps.
            BrokenStreamError: it broke, and can go on where it was.
            ClusterError: it could not be opened.
        """
        stream = self._open()
        self._stream, self._opened_at = stream, time.monotonic()
        try:
            self._note_recovery()
            for line in stream:
                self._note_recovery()
                self._take(line)
        finally:
            self._stream = None
            stream.close()

    def _note_recovery(self) -> None:
        """A stream that goes on where the last one ended has missed nothing."""
        if self._is_lost or (self._is_flapping and self._has_lived):
            self._is_lost = self._is_flapping = False
            self._tell(WatchRecovered(self.place))

    def _open(self) -> LineStream:
        kind, place = self.place.kind, self.place
        assert kind.entry is not None  # noqa: S101  (what is not served is never listed)
        silence = self._shared.silence_seconds
        longest = STREAM_SECONDS if silence >= SILENCE_SECONDS else silence * 0.75
        query: dict[str, str | int] = {
            **kind.question.selection,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            # Not all at the same moment, for all watches begin together.
            "timeoutSeconds": max(1, round(longest * random.uniform(0.9, 1.1))),  # noqa: S311
        }
        accept = kind.question.accept.replace("PartialObjectMetadataList", "PartialObjectMetadata")
        path = path_of(kind.api_version, kind.entry.plural, place.namespace)
        try:
            return self._shared.client.open_stream(path, query, accept, silence)
        except ApiError as error:
            if error.is_expired:
                raise ExpiredError("its version has expired (410)") from error
            if error.is_too_much:
                self._shared.client.limiter.slow_down()
            raise

    def _take(self, line: bytes) -> None:
        """Tell what one line says.

        Raises:
            ExpiredError: the line is the server's 410.
            BrokenStreamError: it is another error, or no line of a watch.
        """
        try:
            event = decode_line(line)
            if event.type == "ERROR":
                raise _error_in(event.object)
            self._take_event(event.type, event.object)
        except (msgspec.DecodeError, RecursionError, KeyError) as error:
            raise BrokenStreamError(f"a line that cannot be read ({error})") from error

    def _take_event(self, event_type: str, fields: RawObject) -> None:
        place, kind = self.place, self.place.kind
        head = decode_head(fields["metadata"])
        # A kind that is wanted wherever it is has one reference, without a namespace.
        is_wanted = not head.namespace or not kind.namespaces.isdisjoint({head.namespace, ""})
        if event_type != "BOOKMARK" and is_wanted:
            identity = Identity(kind.refs[0].group, kind.kind, head.namespace, head.name)
            is_gone = event_type == "DELETED"
            live = (
                None
                if is_gone
                else decode_object(
                    fields, kind.api_version, kind.kind, keeps_status=kind.question.keeps_status
                )
            )
            self._tell(Moved(place, identity, live, head.resource_version, time.monotonic()))
        self._version = head.resource_version

    def _tell(self, change: Change) -> None:
        if not self._shared.stopping.is_set():
            self._shared.emit(change)

    def _lose(self, reason: str) -> None:
        self._is_lost = True
        self._tell(WatchLost(self.place, reason))

    def _reason_of(self, error: HoldfastError) -> str:
        entry = self.place.kind.entry
        if not isinstance(error, ApiError) or entry is None:
            return str(error)
        if error.is_absent:
            self._version = ""  # served again, its versions are others
        return unread_reason(error, entry, self.place.namespace, "list and watch")


def _error_in(status: RawObject) -> ClusterError:
    """The error that a stream sent as an event: a compacted or restarted server says 410."""
    code = msgspec.json.decode(status.get("code") or b"0")
    message = str(msgspec.json.decode(status.get("message") or b'""'))
    if code == _GONE:
        return ExpiredError("its version has expired (410)")
    return BrokenStreamError(f"the server ended it with {code} {message}".rstrip())
