import pytest
from holdfast.controllers.watch.pending import (
    LONGEST_WAIT_SECONDS,
    MOST_VERSIONS,
    QUIET_SECONDS,
    PendingChanges,
    Task,
    Version,
)
from holdfast.kube.objects import Identity

ONE = Identity("", "ConfigMap", "cx", "one")
TWO = Identity("", "ConfigMap", "cx", "two")


def taken(queue: PendingChanges, now: float, *, is_forced: bool = False) -> list[Task]:
    """What is due, and judged without a failure."""
    tasks = list(queue.take_due(now, is_forced=is_forced))
    for task in tasks:
        queue.done(task, now, has_succeeded=True)
    return tasks


def version(seconds: float, number: int = 0) -> Version:
    return Version({"data": {"n": str(number)}}, seconds)


def test_a_hundred_changes_in_a_second_are_one_look() -> None:
    queue = PendingChanges()
    evaluations = []
    for number in range(100):
        now = number / 100
        queue.add(ONE, version(now, number))
        evaluations += taken(queue, now)
    evaluations += taken(queue, 1 + QUIET_SECONDS)
    (look,) = evaluations
    assert look.changes == 100
    assert look.latest == version(0.99, 99)
    assert len(look.versions) == MOST_VERSIONS
    assert look.versions[0] == version(0, 0)


def test_an_object_that_never_rests_is_checked_all_the_same() -> None:
    queue = PendingChanges()
    times = []
    for number in range(500):
        now = number / 100
        queue.add(ONE, version(now, number))
        times += [now for _ in taken(queue, now)]
    assert 3 <= len(times) <= 5
    assert times[0] <= LONGEST_WAIT_SECONDS + 0.01


def test_a_single_change_waits_only_a_moment() -> None:
    queue = PendingChanges()
    queue.add(ONE, version(5))
    assert taken(queue, 5 + QUIET_SECONDS / 2) == []
    assert queue.seconds_until_due(5) == pytest.approx(QUIET_SECONDS)
    assert [task.identity for task in taken(queue, 5 + QUIET_SECONDS)] == [ONE]
    assert queue.seconds_until_due(9) is None


def test_objects_do_not_wait_for_each_other() -> None:
    queue = PendingChanges()
    queue.add(ONE, version(0))
    queue.add(TWO, version(0.08))
    assert [task.identity for task in taken(queue, 0.1)] == [ONE]
    assert [task.identity for task in taken(queue, 0.1, is_forced=True)] == [TWO]


def test_what_could_not_be_read_comes_back_later_each_time_and_news_brings_it_back() -> None:
    queue = PendingChanges()
    now, waits = 100.0, list[float]()
    queue.add_unread(ONE, now)
    for _ in range(9):
        now += queue.seconds_until_due(now) or 0.0
        (task,) = queue.take_due(now)
        queue.done(task, now, has_succeeded=False)
        waits.append(queue.seconds_until_due(now) or 0.0)
    assert waits == pytest.approx([1, 2, 4, 8, 16, 32, 60, 60, 60])
    queue.add(ONE, version(now + 1))
    assert queue.seconds_until_due(now + 1) == pytest.approx(QUIET_SECONDS)


def test_what_was_judged_is_forgotten() -> None:
    queue = PendingChanges()
    queue.add(ONE, version(0))
    assert len(taken(queue, 5)) == 1
    assert len(queue) == 0
    assert queue.seconds_until_due(6) is None
