"""Updates of a stack: what two places know of them."""

from pathlib import Path

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.journal.updates import UpdateJournal, joined
from hypothesis import given
from hypothesis import strategies as st


def record(identifier: str = "", started_at: str = "1", **facts: object) -> UpdateRecord:
    return UpdateRecord(
        identifier=identifier,
        action="up",
        stack="dev",
        outcome=str(facts.pop("outcome", "succeeded")),
        started_at=started_at,
        **facts,  # type: ignore[arg-type]  # test data, by name
    )


RECORDS = st.lists(
    st.builds(record, st.sampled_from(["", "a", "b", "c"]), st.sampled_from(["1", "2", "3"])),
    max_size=6,
)


@given(RECORDS, RECORDS)
def test_every_update_is_told_once_oldest_first(
    engine: list[UpdateRecord], journal: list[UpdateRecord]
) -> None:
    told = joined(engine, journal)
    named = {each.identifier for each in (*engine, *journal)} - {""}
    nameless = sum(not each.identifier for each in (*engine, *journal))
    assert {each.identifier for each in told} - {""} == named
    assert len(told) == len(named) + nameless
    assert [each.started_at for each in told] == sorted(each.started_at for each in told)


def test_the_journal_adds_what_the_engine_does_not_keep() -> None:
    (told,) = joined(
        [record("a", commit="c", changes={"update": 1})],
        [record("a", outcome="failed", detail="not ready", agents=("x",))],
    )
    assert (told.commit, told.changes, told.outcome) == ("c", {"update": 1}, "failed")
    assert (told.detail, told.agents) == ("not ready", ("x",))


def test_no_agent_changed_is_not_the_same_as_nobody_knows() -> None:
    (told,) = joined([record("a")], [record("a", agents=())])
    assert told.agents == ()
    (told,) = joined([record("b")], [])
    assert told.agents is None


def test_a_torn_line_spoils_no_other(tmp_path: Path) -> None:
    journal = UpdateJournal.of(tmp_path, "project", "organization/project/dev")
    journal.add(record("a"))
    with journal.file.open("ab") as file:
        file.write(b'{"schemaVersion": "holdf')
    journal.add(record("b"))
    assert [each.identifier for each in journal.records()] == ["a", "b"]
    assert journal.file.name == "dev.updates.jsonl"
