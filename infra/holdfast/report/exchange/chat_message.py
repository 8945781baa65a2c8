"""A digest of drift as a message for Slack or Teams: what, who, since when, and how to look. Pure.

Every text is shown as it is: neither product finds markup, mentions or links in it. Values of
fields are left out, for more people read a channel than may read a cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from holdfast.drift.cause.causes import CauseEvent
from holdfast.drift.finding import Actor, Severity
from holdfast.drift.record.ledger import FindingEvent, Transition
from holdfast.drift.record.watch_report import WatchState
from holdfast.kube.paths import format_path
from holdfast.kube.text import counted, safe_text
from holdfast.report.text.event_text import rfc3339, seconds_text

MOST_ITEMS: Final = 10
LONGEST_ITEM: Final = 240
LONGEST_TITLE: Final = 140
_CARD: Final = "application/vnd.microsoft.card.adaptive"


class Chat(StrEnum):
    """What takes messages at an incoming webhook."""

    SLACK = "slack"
    TEAMS = "teams"


@dataclass(frozen=True)
class Item:
    """One line of a digest; it stands for one finding, or for many with one cause.

    Attributes:
        severity: The worst of its findings.
        turns: What became of each of them.
    """

    severity: Severity
    turns: tuple[Transition, ...]
    text: str


@dataclass(frozen=True)
class Digest:
    """What came and went since the last message.

    Attributes:
        stack: Empty where files are compared.
        items: The worst ones, at most `MOST_ITEMS`.
        left_out: How many items are not in it.
        turns: How often each transition occurred, whether it is shown or not.
        state: As it is at the end.
    """

    stack: str
    items: tuple[Item, ...]
    left_out: int
    turns: tuple[tuple[Transition, int], ...]
    state: WatchState

    @property
    def title(self) -> str:
        """One line that says where and how much."""
        where = f"Drift in stack {self.stack}" if self.stack else "Drift"
        counts = ", ".join(f"{count} {turn}" for turn, count in self.turns if count)
        return safe_text(f"{where}: {counts or self.state.status}", longest=LONGEST_TITLE)

    @property
    def lines(self) -> tuple[str, ...]:
        """All that follows the title."""
        more = (f"and {self.left_out} more",) if self.left_out else ()
        stack = safe_text(self.stack, LONGEST_TITLE)
        look = f"holdfast drift -s {stack}" if stack else "holdfast drift --desired PATH"
        return (*(item.text for item in self.items), *more, _state_line(self.state), f"Run: {look}")


def finding_item(event: FindingEvent) -> Item:
    """One transition of one finding, without values."""
    finding = event.finding
    what = f"{finding.drift_class} {finding.ref} {format_path(finding.path)}".rstrip()
    end = f"by {_who(finding.actors)} at {rfc3339(event.at.time)}"
    if event.transition is Transition.CLOSED:
        end = f"after {seconds_text(event.dwell_seconds)}"
    return _item(finding.severity, event.transition, (event.transition,), f"{what} {end}")


def cause_item(cause: CauseEvent) -> Item:
    """All findings with one cause, without values."""
    end = f"since {rfc3339(cause.opened.time)}"
    if cause.transition is Transition.CLOSED:
        end = f"after {seconds_text(cause.dwell_seconds)}"
    turns = tuple(event.transition for event in cause.events)
    worst = cause.worst_severity or Severity.LOW
    text = f"{cause.source.words(cause.spanned_objects)} {end}"
    return _item(worst, cause.transition, turns, text)


def chat_message(digest: Digest, chat: Chat) -> dict[str, Any]:
    """The body of a request that sends a digest to an incoming webhook."""
    return chat_body(digest.title, digest.lines, chat)


def chat_body(title: str, lines: Sequence[str], chat: Chat) -> dict[str, Any]:
    """The body of a request to an incoming webhook.

    Args:
        title: What a notification shows.
        lines: What follows it, one paragraph each.
        chat: What takes the message.

    Sources: Slack's Block Kit, where `plain_text` is never parsed; Adaptive Cards 1.4, where a
    `TextRun` has no Markdown, in the envelope that a workflow of Teams takes.
    """
    if chat is Chat.SLACK:
        return _slack(title, lines)
    return _teams(title, lines)


def _item(
    severity: Severity, transition: Transition, turns: tuple[Transition, ...], text: str
) -> Item:
    return Item(severity, turns, safe_text(f"{transition} {severity}: {text}", LONGEST_ITEM))


def _who(actors: Sequence[Actor]) -> str:
    return ", ".join(actor.user or actor.manager for actor in actors) or "unknown"


def _state_line(state: WatchState) -> str:
    line = f"Now: {state.status}, {counted(state.findings, 'open finding')}"
    for first in state.not_checked[:1]:
        others = len(state.not_checked) - 1
        line += f"; not checked: {safe_text(f'{first.scope}: {first.reason}', LONGEST_ITEM)}"
        line += f" and {others} more" if others else ""
    return line


def _slack(title: str, lines: Sequence[str]) -> dict[str, Any]:
    return {
        # What a notification shows; Slack's own escapes, for this text alone is parsed.
        "text": title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        "blocks": [
            {"type": "header", "text": _plain(title)},
            {"type": "section", "text": _plain("\n".join(lines))},
        ],
    }


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _teams(title: str, lines: Sequence[str]) -> dict[str, Any]:
    texts = [{"type": "TextRun", "text": title, "weight": "Bolder"}]
    body = [_block(texts), *(_block([{"type": "TextRun", "text": line}]) for line in lines)]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    }
    return {"type": "message", "attachments": [{"contentType": _CARD, "content": card}]}


def _block(runs: Sequence[dict[str, str]]) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": list(runs)}
