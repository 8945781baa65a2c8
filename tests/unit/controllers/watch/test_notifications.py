"""Messages to a channel: every transition of drift is counted in one, and none is a flood."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from holdfast.adapters.http.webhook import Webhook
from holdfast.controllers.watch import notifications
from holdfast.controllers.watch.notifications import (
    BLIND_SECONDS,
    DIGEST_SECONDS,
    NotificationListener,
    chat_addresses,
)
from holdfast.drift.finding import NotChecked, Severity
from holdfast.drift.record.ledger import FindingEvent
from holdfast.drift.record.watch_report import Status, WatchState
from holdfast.errors import InputError
from holdfast.report.exchange.chat_message import Chat

from tests.unit.report.watched import REF, event

SEEN = WatchState(Status.DRIFT, (), 1, 4)
BLIND = WatchState(Status.UNKNOWN, (NotChecked("Pod in cx", "403"),), 0, 4)


class Sent:
    """Stands where the webhook does."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.is_closed = False

    def send(self, document: dict[str, Any]) -> None:
        self.messages.append(document)

    def close(self) -> None:
        self.is_closed = True

    @property
    def titles(self) -> list[str]:
        return [message["text"] for message in self.messages]

    @property
    def bodies(self) -> list[str]:
        return [message["blocks"][1]["text"]["text"] for message in self.messages]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(notifications, "time", clock)
    return clock


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def listener(sent: Sent, clock: Clock) -> NotificationListener:
    return NotificationListener("prod", Chat.SLACK, cast("Webhook", sent))


def named(name: str, severity: Severity = Severity.HIGH) -> FindingEvent:
    opened = event()
    return replace(
        opened, finding=replace(opened.finding, ref=replace(REF, name=name), severity=severity)
    )


def pass_time(
    listener: NotificationListener, clock: Clock, seconds: float, state: WatchState = SEEN
) -> None:
    clock.now += seconds
    listener.status_changed(state, ())


def flush(listener: NotificationListener, events: Sequence[FindingEvent]) -> None:
    listener.flushed(events, ())


def test_what_comes_within_the_interval_is_one_message_the_worst_first(
    listener: NotificationListener, clock: Clock, sent: Sent
) -> None:
    flush(listener, [named("first", Severity.LOW)])
    pass_time(listener, clock, DIGEST_SECONDS - 1)
    flush(listener, [named("second", Severity.CRITICAL)])
    assert sent.messages == []
    pass_time(listener, clock, 1)
    assert sent.titles == ["Drift in stack prod: 2 opened"]
    assert sent.bodies[0].index("second") < sent.bodies[0].index("first")
    pass_time(listener, clock, 600)
    assert len(sent.messages) == 1


def test_a_flood_is_one_message_that_counts_all_and_shows_the_worst(
    listener: NotificationListener, clock: Clock, sent: Sent
) -> None:
    for number in range(500):
        flush(listener, [named(f"n{number}", Severity.LOW)])
    flush(listener, [named("worst", Severity.CRITICAL)])
    pass_time(listener, clock, DIGEST_SECONDS)
    assert sent.titles == ["Drift in stack prod: 501 opened"]
    assert "worst" in sent.bodies[0]
    assert "and 491 more" in sent.bodies[0]


def test_a_remark_is_not_told(listener: NotificationListener, clock: Clock, sent: Sent) -> None:
    flush(listener, [named("x", Severity.INFO)])
    pass_time(listener, clock, 3600)
    listener.ended()
    assert sent.messages == []


def test_the_end_sends_what_was_gathered(listener: NotificationListener, sent: Sent) -> None:
    flush(listener, [named("x")])
    listener.ended()
    assert sent.titles == ["Drift in stack prod: 1 opened"]
    assert "Now: unknown" in sent.bodies[0]
    assert sent.is_closed


def test_that_the_watch_is_blind_is_told_once_and_so_is_its_end(
    listener: NotificationListener, clock: Clock, sent: Sent
) -> None:
    pass_time(listener, clock, 0, BLIND)
    pass_time(listener, clock, BLIND_SECONDS - 1, BLIND)
    assert sent.messages == []
    pass_time(listener, clock, 1, BLIND)
    pass_time(listener, clock, BLIND_SECONDS, BLIND)
    assert sent.titles == ["Drift in stack prod: unknown"]
    assert "not checked: Pod in cx: 403" in sent.bodies[0]
    pass_time(listener, clock, 1)
    pass_time(listener, clock, 1)
    assert sent.titles[1:] == ["Drift in stack prod: drift"]


def test_a_short_blindness_such_as_an_update_is_not_told(
    listener: NotificationListener, clock: Clock, sent: Sent
) -> None:
    for _ in range(5):
        pass_time(listener, clock, 1, BLIND)
        pass_time(listener, clock, BLIND_SECONDS - 1, BLIND)
        pass_time(listener, clock, 1)
    assert sent.messages == []


def test_a_chat_is_sent_messages_when_its_variable_is_set() -> None:
    secure, local = "https://hooks.example/x", "http://127.0.0.1:8080/x"
    assert chat_addresses({}) == {}
    assert chat_addresses({"HOLDFAST_SLACK_URL": ""}) == {}
    assert chat_addresses({"HOLDFAST_SLACK_URL": secure, "HOLDFAST_TEAMS_URL": local}) == {
        Chat.SLACK: secure,
        Chat.TEAMS: local,
    }


@pytest.mark.parametrize("url", ["http://hooks.example/hunter2", "ftp://x/hunter2", "hunter2"])
def test_an_address_that_others_would_read_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InputError) as refused:
        chat_addresses({"HOLDFAST_SLACK_URL": url})
    assert "HOLDFAST_SLACK_URL: expected a URL that begins with https://" in str(refused.value)
    assert "hunter2" not in str(refused.value)
