"""Messages to a channel: what came and went, as one digest now and then and not as a flood."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from holdfast.adapters.http.peers import is_loopback_url
from holdfast.adapters.http.webhook import Webhook
from holdfast.drift.cause.causes import CauseEvent
from holdfast.drift.finding import Finding
from holdfast.drift.record.ledger import FindingEvent, Timestamp, Transition
from holdfast.drift.record.watch_report import Listener, Status, WatchState
from holdfast.errors import InputError
from holdfast.report.exchange.chat_message import (
    MOST_ITEMS,
    Chat,
    Digest,
    Item,
    cause_item,
    chat_message,
    finding_item,
)

DIGEST_SECONDS: Final = 30.0
"""What comes and goes within it is one message."""

BLIND_SECONDS: Final = 300.0
"""How long a state is unknown before a message reports it: an update takes less."""

URL_VARIABLES: Final = {Chat.SLACK: "HOLDFAST_SLACK_URL", Chat.TEAMS: "HOLDFAST_TEAMS_URL"}
"""Such an address is a credential of the channel, so it is never an argument."""


def chat_addresses(environment: Mapping[str, str]) -> dict[Chat, str]:
    """Where messages go: the chats whose variable is set.

    Raises:
        InputError: an address would be sent in clear text.
    """
    found = {chat: environment.get(name, "") for chat, name in URL_VARIABLES.items()}
    for chat, url in found.items():
        if url and urlsplit(url).scheme != "https" and not is_loopback_url(url):
            raise InputError(
                f"{URL_VARIABLES[chat]}: expected a URL that begins with https://",
                remedy="use https: the URL is a credential of the channel",
            )
    return {chat: url for chat, url in found.items() if url}


@dataclass
class _Pending:
    """What the next message will contain.

    Attributes:
        items: The worst ones, in order.
        left_out: How many others there are.
        since: Monotonic time of the first one.
    """

    items: list[Item] = field(default_factory=list)
    left_out: int = 0
    turns: Counter[Transition] = field(default_factory=Counter)
    since: float | None = None

    def add(self, items: Sequence[Item], now: float) -> None:
        self.since = now if self.since is None else self.since
        self.items = sorted([*self.items, *items], key=lambda item: item.severity.rank)
        self.left_out += len(self.items[MOST_ITEMS:])
        del self.items[MOST_ITEMS:]
        self.turns.update(turn for item in items for turn in item.turns)


class NotificationListener(Listener):
    """Gathers what came and went, and sends it after `DIGEST_SECONDS`.

    Laws: every transition of drift is counted in one message; none waits for longer than
    that; remarks are left out.
    """

    def __init__(self, stack: str, chat: Chat, webhook: Webhook) -> None:
        self._stack = stack
        self._chat = chat
        self._webhook = webhook
        self._state = WatchState(Status.UNKNOWN)
        self._blind_since: float | None = None
        self._is_blindness_sent = False
        self._pending = _Pending()

    def flushed(
        self, events: Sequence[FindingEvent], causes: Sequence[tuple[str, CauseEvent]]
    ) -> None:
        """Gather what became of findings, the worst first."""
        items = [finding_item(event) for event in events if event.finding.is_drift]
        items += [cause_item(cause) for _, cause in causes if cause.events]
        if items:
            self._pending.add(items, time.monotonic())

    def status_changed(
        self, state: WatchState, open_findings: Sequence[tuple[Finding, Timestamp]]
    ) -> None:
        """Send what was gathered when it is due, and that the watch is blind, or sees again."""
        self._state = state
        now = time.monotonic()
        since = self._pending.since
        is_due = since is not None and now - since >= DIGEST_SECONDS
        if self._is_news_of_blindness(now) or is_due:
            self._send()

    def ended(self) -> None:
        """Send what was gathered, and deliver what waits."""
        if self._pending.since is not None:
            self._send()
        self._webhook.close()

    def _is_news_of_blindness(self, now: float) -> bool:
        if self._state.status is not Status.UNKNOWN:
            was_sent, self._is_blindness_sent = self._is_blindness_sent, False
            self._blind_since = None
            return was_sent
        self._blind_since = now if self._blind_since is None else self._blind_since
        if self._is_blindness_sent or now - self._blind_since < BLIND_SECONDS:
            return False
        self._is_blindness_sent = True
        return True

    def _send(self) -> None:
        pending, self._pending = self._pending, _Pending()
        turns = tuple((turn, pending.turns[turn]) for turn in Transition)
        items = tuple(pending.items)
        digest = Digest(self._stack, items, pending.left_out, turns, self._state)
        self._webhook.send(chat_message(digest, self._chat))
