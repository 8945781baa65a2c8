"""Messages of a Git loop: everything it records is counted in one, and none is a flood."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from holdfast.controllers.gitops import loop_messages
from holdfast.controllers.gitops.loop_events import EventRecord
from holdfast.controllers.gitops.loop_messages import LoopMessages
from holdfast.controllers.watch.notifications import DIGEST_SECONDS
from holdfast.errors import InputError

from tests.chat_channel import Channel, taking_messages

REFUSED = EventRecord("UpdateRefused", "PolicyViolation: 1 violation by Ann", is_warning=True)
UPDATED = EventRecord("Updated", "commit 0123456789ab by Ann: 3 update")
NOTED: list[dict[str, Any]] = []


def log(event: str, **facts: Any) -> None:
    NOTED.append({"event": event, **facts})


@pytest.fixture
def channel() -> Iterator[Channel]:
    with taking_messages() as channel:
        yield channel


def text_of(channel: Channel) -> str:
    [text] = channel.texts
    return text


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(loop_messages, "time", clock)
    NOTED.clear()
    return clock


def messages_to(channel: Channel) -> LoopMessages:
    return LoopMessages.of("acme/fleet/prod", {"HOLDFAST_SLACK_URL": channel.url}, log)


def test_what_happens_within_the_time_of_a_digest_is_one_message(
    channel: Channel, clock: Clock
) -> None:
    messages = messages_to(channel)
    messages.record(UPDATED)
    clock.now += DIGEST_SECONDS - 1
    messages.record(REFUSED)
    messages.record(UPDATED)
    messages.send_due()
    assert channel.messages == []

    clock.now += 1
    messages.send_due()
    messages.end()
    title, first, *others, look = text_of(channel).splitlines()
    assert title == "Git loop of stack prod: 2 Updated, 1 UpdateRefused"
    assert first.startswith("UpdateRefused: PolicyViolation: 1 violation by Ann (2")
    assert [line.partition(":")[0] for line in others] == ["Updated", "Updated"]
    assert look == "Run: holdfast status -s prod"


def test_a_flood_is_one_message_that_counts_all_of_it(channel: Channel, clock: Clock) -> None:
    messages = messages_to(channel)
    for number in range(500):
        messages.record(EventRecord("DriftFound", f"agent-{number}", is_warning=True))
    messages.end()
    assert "500 DriftFound" in text_of(channel)
    assert "and 490 more" in text_of(channel)
    assert len(text_of(channel).splitlines()) == 13


def test_the_last_message_is_sent_when_the_loop_ends(channel: Channel, clock: Clock) -> None:
    messages = messages_to(channel)
    messages.record(EventRecord("LeaseLost", "another holder", is_warning=True))
    messages.end()
    assert "LeaseLost: another holder" in text_of(channel)


def test_nothing_is_sent_where_nothing_happened(channel: Channel, clock: Clock) -> None:
    messages = messages_to(channel)
    clock.now += 10 * DIGEST_SECONDS
    messages.send_due()
    messages.end()
    assert channel.messages == []


@pytest.mark.parametrize(
    "note",
    [
        pytest.param("<!channel> <https://evil.example|click>", id="mention and link of Slack"),
        pytest.param("*bold* [here](https://evil.example)", id="Markdown"),
        pytest.param("line\nRun: rm -rf /\x1b[31m\u202e", id="lines, colours and direction"),
        pytest.param("x" * 10_000, id="a long text"),
    ],
)
def test_a_text_that_a_stranger_wrote_is_one_plain_line(
    channel: Channel, clock: Clock, note: str
) -> None:
    messages = messages_to(channel)
    messages.record(EventRecord("UpdateRefused", note, is_warning=True))
    messages.end()
    [message] = channel.messages
    assert {block["text"]["type"] for block in message["blocks"]} == {"plain_text"}
    lines = message["blocks"][1]["text"]["text"].splitlines()
    assert len(lines) == 2
    assert all(len(line) < 300 and line.isprintable() for line in lines)


def test_the_address_of_a_channel_is_in_no_log(channel: Channel, clock: Clock) -> None:
    channel.status = 404
    messages = messages_to(channel)
    messages.record(REFUSED)
    messages.end()
    assert [each.get("outcome") for each in NOTED] == [None, "lost"]
    assert "sEcReT" not in json.dumps(NOTED)


@pytest.mark.parametrize("name", ["HOLDFAST_SLACK_URL", "HOLDFAST_TEAMS_URL"])
def test_a_channel_in_clear_text_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: .*https"):
        LoopMessages.of("prod", {name: "http://hooks.example/T0/sEcReT"}, log)


def test_without_a_channel_nothing_is_gathered() -> None:
    messages = LoopMessages.of("prod", {}, log)
    records: Sequence[EventRecord] = [REFUSED] * 3
    for record in records:
        messages.record(record)
    assert not messages.has_channels
    messages.end()
