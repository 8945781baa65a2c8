import pytest
from holdfast.controllers.runtime.work_queue import (
    LONGEST_RETRY_SECONDS,
    LONGEST_WAIT_SECONDS,
    MOST_VERSIONS,
    QUIET_SECONDS,
    Version,
    WorkQueue,
)
from holdfast.kube.objects import Identity

ONE = Identity("", "ConfigMap", "cx", "one")
TWO = Identity("", "ConfigMap", "cx", "two")


def version(seconds: float, number: int = 0) -> Version:
    return Version({"data": {"n": str(number)}}, seconds)


def test_a_hundred_changes_in_a_second_are_one_look() -> None:
    queue = WorkQueue()
    looks = []
    for number in range(100):
        now = number / 100
        queue.add(ONE, version(now, number))
        looks += list(queue.take_due(now))
    looks += list(queue.take_due(1 + QUIET_SECONDS))
    (look,) = looks
    assert look.changes == 100
    assert look.latest == version(0.99, 99)
    assert len(look.versions) == MOST_VERSIONS
    assert look.versions[0] == version(0, 0)


def test_an_object_that_never_rests_is_looked_at_all_the_same() -> None:
    queue = WorkQueue()
    taken = []
    for number in range(500):
        now = number / 100
        queue.add(ONE, version(now, number))
        taken += [now for _ in queue.take_due(now)]
    assert 3 <= len(taken) <= 5
    assert taken[0] <= LONGEST_WAIT_SECONDS + 0.01


def test_a_single_change_waits_only_a_moment() -> None:
    queue = WorkQueue()
    queue.add(ONE, version(5))
    assert list(queue.take_due(5 + QUIET_SECONDS / 2)) == []
    assert queue.seconds_until_due(5) == pytest.approx(QUIET_SECONDS)
    assert [task.identity for task in queue.take_due(5 + QUIET_SECONDS)] == [ONE]
    assert queue.seconds_until_due(9) is None


def test_objects_do_not_wait_for_each_other() -> None:
    queue = WorkQueue()
    queue.add(ONE, version(0))
    queue.add(TWO, version(0.08))
    assert [task.identity for task in queue.take_due(0.1)] == [ONE]
    assert [task.identity for task in queue.take_all()] == [TWO]


def test_what_could_not_be_read_comes_back_later_each_time_and_news_brings_it_back() -> None:
    queue = WorkQueue()
    waits = []
    for _ in range(9):
        queue.retry(ONE, 100)
        waits.append(queue.seconds_until_due(100))
        list(queue.take_all())
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    queue.retry(ONE, 100)
    queue.add(ONE, version(101))
    assert queue.seconds_until_due(101) == pytest.approx(QUIET_SECONDS)
    queue.forget_failures(ONE)
    list(queue.take_all())
    queue.retry(ONE, 200)
    assert queue.seconds_until_due(200) == 1
    assert LONGEST_RETRY_SECONDS == 60
