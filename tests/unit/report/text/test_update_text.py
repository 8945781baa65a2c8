"""Updates as people and programs read them."""

import json

from holdfast.adapters.engine.update_record import DONE, UpdateRecord
from holdfast.operations.deploy.recorder import changes_in_words
from holdfast.report.documents.updates import updates_json
from holdfast.report.text.history_text import updates_text

UPDATE = UpdateRecord(
    action="promote",
    stack="prod",
    outcome="succeeded",
    commit="0123456789abcdef",
    author="Ann <ann@example.test>",
    author_time="2026-11-22T00:00:00+00:00",
    pull_request="12",
    operator="ci\x1b[31m",
    policy="passed, 2 advisory",
    started_at="2026-11-22T01:00:00Z",
    changes={"same": 40, "update": 2},
    agents=("mover",),
    proof="equal: compared 41 objects",
)
RESTART = UpdateRecord(
    action="restart",
    stack="prod",
    outcome=DONE,
    operator="ann",
    reason="stuck",
    started_at="2026-11-22T02:00:00Z",
    agents=("mover",),
)


def test_the_newest_is_reported_first_and_control_characters_are_shown() -> None:
    assert updates_text([UPDATE, RESTART]) == (
        "2026-11-22T02:00:00Z  restart  mover  done\n"
        "  operator:       ann\n"
        "  reason:         stuck\n"
        "\n"
        "2026-11-22T01:00:00Z  promote  0123456789ab  succeeded\n"
        "  author:         Ann <ann@example.test>, 2026-11-22T00:00:00+00:00\n"
        "  pull request:   12\n"
        "  operator:       ci\\e[31m\n"
        "  policy:         passed, 2 advisory\n"
        "  changed:        2 update of mover\n"
        "  proof:          equal: compared 41 objects\n"
    )


def test_an_agent_is_reported_whether_it_was_changed_if_that_is_known() -> None:
    unknown = UpdateRecord(action="pulumi", stack="prod", outcome="succeeded")
    told = json.loads(updates_json("prod", [unknown, UPDATE], "mover"))
    assert [each["changed"] for each in told["updates"]] == [True, None]
    assert told["agent"] == "mover"


def test_nothing_is_said_in_words() -> None:
    assert updates_text([]) == "no update is recorded\n"
    assert changes_in_words({"same": 3}) == "no changes"
    assert changes_in_words({"update": 2, "create": 1}) == "1 create, 2 update"
