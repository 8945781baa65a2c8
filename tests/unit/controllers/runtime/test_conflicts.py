"""The breaker of fights."""

from holdfast.controllers.runtime.conflicts import MOST_REVERTS, WINDOW_SECONDS, ConflictBreaker
from hypothesis import given
from hypothesis import strategies as st


def test_five_times_within_an_hour_is_a_fight_and_is_reported_once() -> None:
    breaker: ConflictBreaker[str] = ConflictBreaker()
    assert [breaker.note("path", 60.0 * turn) for turn in range(6)] == [False] * 4 + [True, False]
    assert breaker.is_open("path")
    assert not breaker.is_open("another")


def test_once_a_quarter_of_an_hour_is_none() -> None:
    breaker: ConflictBreaker[str] = ConflictBreaker()
    assert not any(breaker.note("path", 901.0 * turn) for turn in range(50))


def test_a_person_closes_one_and_a_commit_closes_all() -> None:
    breaker: ConflictBreaker[str] = ConflictBreaker()
    for key in ("a", "b"):
        for turn in range(MOST_REVERTS):
            breaker.note(key, turn)
    assert breaker.close("a")
    assert not breaker.close("a")
    assert breaker.open_keys == ("b",)
    assert breaker.close_all() == 1
    assert not any(breaker.note("b", 10.0) for _ in range(MOST_REVERTS - 1)), "it counts anew"


@given(st.lists(st.floats(0, 100_000), max_size=40))
def test_it_opens_exactly_when_five_fall_into_an_hour(times: list[float]) -> None:
    times.sort()
    breaker: ConflictBreaker[str] = ConflictBreaker()
    for time in times:
        breaker.note("path", time)
    is_conflict = any(
        times[at + MOST_REVERTS - 1] - times[at] <= WINDOW_SECONDS
        for at in range(len(times) - MOST_REVERTS + 1)
    )
    assert breaker.is_open("path") == is_conflict


def test_fields_that_were_reverted_long_ago_are_forgotten() -> None:
    breaker: ConflictBreaker[int] = ConflictBreaker()
    for field in range(20_000):
        breaker.note(field, float(field))
    assert len(breaker) <= 2 * WINDOW_SECONDS + 1
