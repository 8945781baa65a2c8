"""Findings that one hand explains, told once while they come and go. Pure.

Laws: a cause is opened when it comes to span two objects, and closed when none of its findings is
open any more; every turn of a finding is told once, for itself or with its cause.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.drift.cause.causes import FEWEST_OBJECTS, Hand, hand_behind
from holdfast.drift.record.ledger import FindingEvent, FindingKey, Moment, Turn
from holdfast.kube.objects import Identity

Key = tuple[Identity, FindingKey]


@dataclass(frozen=True)
class CauseEvent:
    """One turn of what is behind several findings.

    Attributes:
        turn: `changed` when it spans more objects, or fewer, than before.
        events: Turns of its findings since the last one.
        objects: How many objects it spans now.
        opened: When it came to span more than one.
    """

    turn: Turn
    hand: Hand
    events: tuple[FindingEvent, ...]
    objects: int
    opened: Moment
    at: Moment

    @property
    def dwell_seconds(self) -> float:
        """How long it has been open."""
        return max(0.0, self.at.seconds - self.opened.seconds)


class CauseLedger:
    """The open findings by the hand behind them, and what has happened since it was asked."""

    def __init__(self) -> None:
        self._hands: dict[Key, Hand] = {}
        self._open: dict[Hand, set[Key]] = {}
        self._told: dict[Hand, Moment] = {}
        self._news: list[tuple[FindingEvent, Hand | None]] = []

    @property
    def has_news(self) -> bool:
        """Whether anything has happened since it was settled."""
        return bool(self._news)

    def note(self, events: Iterable[FindingEvent]) -> None:
        """Take turns of findings."""
        for event in events:
            finding = event.finding
            key: Key = (finding.ref.identity, (finding.drift_class, finding.path))
            before = self._hands.pop(key, None)
            if before is not None:
                self._open[before].discard(key)
            hand = before if event.turn is Turn.CLOSED else hand_behind(finding)
            if hand is not None and event.turn is not Turn.CLOSED:
                self._hands[key] = hand
                self._open.setdefault(hand, set()).add(key)
            self._news.append((event, hand))

    def settle(self, at: Moment) -> tuple[list[FindingEvent], list[CauseEvent]]:
        """What stands for itself, and what was gathered by its cause."""
        alone: list[FindingEvent] = []
        gathered: dict[Hand, list[FindingEvent]] = {}
        for event, hand in self._news:
            if hand is not None and (hand in self._told or self._objects(hand) >= FEWEST_OBJECTS):
                gathered.setdefault(hand, []).append(event)
            else:
                alone.append(event)
        self._news.clear()
        for hand in self._told:
            if not self._open.get(hand):
                gathered.setdefault(hand, [])  # others have written over all that it did
        causes = [self._turn(hand, events, at) for hand, events in gathered.items()]
        for hand in [hand for hand, keys in self._open.items() if not keys]:
            del self._open[hand]
            self._told.pop(hand, None)
        return alone, causes

    def _turn(self, hand: Hand, events: list[FindingEvent], at: Moment) -> CauseEvent:
        objects = self._objects(hand)
        turn = Turn.CHANGED if hand in self._told else Turn.OPENED
        opened = self._told.setdefault(hand, at)
        turn = turn if objects else Turn.CLOSED
        return CauseEvent(turn, hand, tuple(events), objects, opened, at)

    def _objects(self, hand: Hand) -> int:
        return len({identity for identity, _ in self._open.get(hand, ())})
