"""Two sources of updates give one list, in the order that is really known."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.journal.updates import joined
from hypothesis import given
from hypothesis import strategies as st

START = datetime(2026, 11, 16, 9, 0, 0, tzinfo=UTC)


def record(identifier: str = "", started_at: str = "1", **facts: object) -> UpdateRecord:
    return UpdateRecord(
        identifier=identifier,
        action="up",
        stack="dev",
        outcome=str(facts.pop("outcome", "succeeded")),
        started_at=started_at,
        **facts,  # type: ignore[arg-type]  # test data, by name
    )


def shown(moment: datetime, resolution: str) -> str:
    return moment.isoformat(timespec=resolution).replace("+00:00", "Z")


@dataclass(frozen=True)
class Done:
    """What really happened: who recorded it, and how long after what came before."""

    by_engine: bool
    in_journal: bool
    gap_milliseconds: int
    resolution: str


HAPPENED = st.lists(
    st.builds(
        Done,
        st.booleans(),
        st.booleans(),
        st.integers(0, 2500),
        st.sampled_from(["seconds", "milliseconds", "microseconds"]),
    ).filter(lambda one: one.by_engine or one.in_journal),
    max_size=12,
)


@given(HAPPENED)
def test_each_source_keeps_its_own_order_whatever_the_resolution_of_its_clock(
    happened: list[Done],
) -> None:
    engine, journal, moment = [], [], START
    for number, one in enumerate(happened):
        moment += timedelta(milliseconds=one.gap_milliseconds)
        if one.by_engine:
            engine.append(record(str(number), shown(moment, "seconds"), commit=str(number)))
        if one.in_journal:
            journal.append(record(str(number), shown(moment, one.resolution)))
    merged = [each.identifier for each in joined(engine, journal)]
    assert sorted(merged, key=int) == [str(number) for number in range(len(happened))]
    for source in (engine, journal):
        names = [each.identifier for each in source]
        assert [name for name in merged if name in names] == names


CLOCKS = st.sampled_from(
    ["", "yesterday", *(shown(START + timedelta(seconds=n), "seconds") for n in range(4))]
)
RECORDS = st.lists(st.builds(record, st.sampled_from(["", "a", "b", "c"]), CLOCKS), max_size=6)


@given(RECORDS, RECORDS)
def test_no_clock_loses_or_doubles_an_update(
    engine: list[UpdateRecord], journal: list[UpdateRecord]
) -> None:
    merged = joined(engine, journal)
    named = {each.identifier for each in (*engine, *journal)} - {""}
    nameless = sum(not each.identifier for each in (*engine, *journal))
    assert {each.identifier for each in merged} - {""} == named
    assert len(merged) == len(named) + nameless


@pytest.mark.parametrize(
    ("engine", "journal", "expected"),
    [
        pytest.param(["b 14Z"], ["a 14Z", "b 14Z"], "ab", id="refused, then done, in one second"),
        pytest.param(["a 14Z"], ["a 14Z", "b 14Z"], "ab", id="done, then refused, in one second"),
        pytest.param(["b 14Z"], ["a 14.9Z", "b 14.95Z"], "ab", id="fractions beside whole seconds"),
        pytest.param(["a 13Z", "c 15Z"], ["b 14.2Z"], "abc", id="by time where no line says"),
        pytest.param(["a 14Z"], ["b 14.2Z"], "ab", id="the engine's second is the whole second"),
        pytest.param(["a 14Z", "b 13Z"], ["b 13.5Z", "c 12Z"], "abc", id="a clock that goes back"),
        pytest.param(["a 20Z", "c 21Z"], ["c 21Z", "d 10Z"], "acd", id="a clock that is wrong"),
    ],
)  # fmt: skip
def test_what_happened_first_stands_first(
    engine: list[str], journal: list[str], expected: str
) -> None:
    def records(texts: list[str]) -> list[UpdateRecord]:
        pairs = (text.split() for text in texts)
        return [record(name, f"2026-11-16T09:00:{time}") for name, time in pairs]

    merged = joined(records(engine), records(journal))
    assert "".join(each.identifier for each in merged) == expected


def test_the_earlier_start_is_shown() -> None:
    (one,) = joined(
        [record("a", "2026-11-16T09:00:15Z")], [record("a", "2026-11-16T10:00:14.5+01:00")]
    )
    assert one.started_at == "2026-11-16T10:00:14.5+01:00"


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
