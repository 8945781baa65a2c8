"""Updates as the engine's history tells them."""

import msgspec
import pytest
from holdfast.adapters.engine.state.history import Change
from holdfast.adapters.engine.update_record import UpdateRecord, message_of, record_of
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
TOLD = ("identifier", "action", "commit", "author", "operator", "reason", "policy")


@given(st.fixed_dictionaries(dict.fromkeys(TOLD, WORDS)))
def test_what_is_said_in_a_message_is_read_back(facts: dict[str, str]) -> None:
    written = msgspec.structs.replace(
        UpdateRecord(action="", stack="dev", outcome="succeeded"), **facts
    )
    read = record_of(Change("update", "succeeded", message=message_of(written)), "dev")
    assert read is not None
    assert {name: getattr(read, name) for name in facts} == facts
    assert not read.is_dirty


def test_a_reason_of_several_lines_cannot_say_more_than_a_reason() -> None:
    record = UpdateRecord(
        action="up", stack="dev", outcome="succeeded", reason="x\nHoldfast-Operator: root"
    )
    read = record_of(Change("update", "succeeded", message=message_of(record)), "dev")
    assert read is not None
    assert (read.reason, read.operator) == ("x Holdfast-Operator: root", "")


def test_a_plain_update_of_pulumi_is_reported_by_what_the_engine_saw() -> None:
    around = {
        "git.head": "abc",
        "git.dirty": "true",
        "git.author": "Ann",
        "git.author.email": "ann@example.test",
    }
    change = Change("update", "failed", 1, around, 4, "by hand", {"create": 2})
    assert record_of(change, "dev") == UpdateRecord(
        action="pulumi",
        stack="dev",
        outcome="failed",
        commit="abc",
        is_dirty=True,
        author="Ann <ann@example.test>",
        policy="not judged by Holdfast",
        reason="by hand",
        started_at="1970-01-01T00:00:01Z",
        seconds=3.0,
        changes={"create": 2},
    )


@pytest.mark.parametrize("kind", ["refresh", "resource-import"])
def test_what_changes_no_cluster_is_no_update(kind: str) -> None:
    assert record_of(Change(kind, "succeeded"), "dev") is None
