"""Messages of a Git loop to a channel: what it did and could not do, as digests."""

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from holdfast.adapters.http.webhook import JSON, Webhook
from holdfast.controllers.gitops.loop_events import EventRecord
from holdfast.controllers.runtime.log import Log
from holdfast.controllers.watch.notifications import DIGEST_SECONDS, URL_VARIABLES, chat_addresses
from holdfast.kube.text import safe_text
from holdfast.report.exchange.chat_message import (
    LONGEST_ITEM,
    LONGEST_TITLE,
    MOST_ITEMS,
    Chat,
    chat_body,
)
from holdfast.report.text.event_text import rfc3339

_TURN_SECONDS: Final = 1.0


@dataclass(frozen=True)
class LoopDigest:
    """What a loop recorded since the last message.

    Attributes:
        stack: Its name.
        records: Each with its time, the oldest first.
    """

    stack: str
    records: tuple[tuple[datetime, EventRecord], ...]

    @property
    def title(self) -> str:
        """One line that says which stack, and how often what happened."""
        counts = Counter(record.reason for _, record in self.records)
        words = ", ".join(f"{count} {reason}" for reason, count in counts.items())
        return safe_text(f"Git loop of stack {self.stack}: {words}", longest=LONGEST_TITLE)

    @property
    def lines(self) -> tuple[str, ...]:
        """Warnings before what went well, and the command that shows more."""
        worst_first = sorted(self.records, key=lambda each: not each[1].is_warning)
        shown = [
            safe_text(f"{record.reason}: {record.note} ({rfc3339(time)})", longest=LONGEST_ITEM)
            for time, record in worst_first[:MOST_ITEMS]
        ]
        left_out = len(worst_first) - len(shown)
        more = [f"and {left_out} more"] if left_out else []
        stack = safe_text(self.stack, LONGEST_TITLE)
        return (*shown, *more, f"Run: holdfast status -s {stack}")


class LoopMessages:
    """Gathers what a loop records, and sends it after `DIGEST_SECONDS`.

    Law: every record is counted in one message, and none waits for longer than that.
    """

    def __init__(self, stack: str, channels: Sequence[tuple[Chat, Webhook]]) -> None:
        """Prepare.

        Args:
            stack: Name of the stack that the loop reconciles.
            channels: Where messages go.
        """
        self._stack = stack
        self._channels = channels
        self._lock = threading.Lock()
        self._records: list[tuple[datetime, EventRecord]] = []
        self._since: float | None = None

    @classmethod
    def of(cls, stack: str, environment: Mapping[str, str], log: Log) -> "LoopMessages":
        """Messages to each channel whose variable is set.

        Raises:
            InputError: an address cannot be used.
        """

        def note(outcome: str, problem: str) -> None:
            if problem:
                log("message", level="warning", outcome=outcome, error=problem)

        channels = []
        for chat, url in chat_addresses(environment).items():
            source = URL_VARIABLES[chat]
            channels.append((chat, Webhook(url, note, source=source, content_type=JSON)))
            log("message", channel=str(chat), source=source)
        return cls(stack.rpartition("/")[2], channels)

    @property
    def has_channels(self) -> bool:
        """Whether any message is sent."""
        return bool(self._channels)

    def record(self, record: EventRecord) -> None:
        """Take what has happened; never waits for a channel."""
        if not self._channels:
            return
        with self._lock:
            self._since = time.monotonic() if self._since is None else self._since
            self._records.append((datetime.now(UTC), record))

    def run(self, stopping: threading.Event) -> None:
        """Send what is due, until the event is set."""
        while not stopping.wait(_TURN_SECONDS):
            self.send_due()

    def send_due(self) -> None:
        """Send what was gathered, if the oldest has waited long enough."""
        since = self._since
        if since is not None and time.monotonic() - since >= DIGEST_SECONDS:
            self._send()

    def end(self) -> None:
        """Send what was gathered, and deliver what waits."""
        if self._since is not None:
            self._send()
        for _, webhook in self._channels:
            webhook.close()

    def _send(self) -> None:
        with self._lock:
            records, self._records, self._since = tuple(self._records), [], None
        digest = LoopDigest(self._stack, records)
        for chat, webhook in self._channels:
            webhook.send(chat_body(digest.title, digest.lines, chat))
