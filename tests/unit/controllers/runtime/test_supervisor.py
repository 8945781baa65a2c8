"""A supervised thread that ends is reported, turns health, and begins again."""

import queue
import threading
from typing import Any

import pytest
from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.backoff import Backoff
from holdfast.controllers.runtime import supervisor as module
from holdfast.controllers.runtime.supervisor import Supervisor
from holdfast.errors import ClusterError

WAIT_SECONDS = 10.0


class Work:
    """Fails in turn, then works until it is stopped."""

    def __init__(self, *failures: Exception | None) -> None:
        self.failures = list(failures)
        self.works = threading.Event()

    def __call__(self, stopping: threading.Event) -> None:
        if self.failures:
            failure = self.failures.pop(0)
            if failure is not None:
                raise failure
            return
        self.works.set()
        stopping.wait(WAIT_SECONDS)


class Lines:
    """What a supervisor logs."""

    def __init__(self) -> None:
        self.inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def __call__(self, phase: str, **facts: Any) -> None:
        self.inbox.put({"phase": phase, **facts})

    def next(self) -> dict[str, Any]:
        return self.inbox.get(timeout=WAIT_SECONDS)


@pytest.mark.parametrize(
    ("failure", "level", "reason"),
    [
        pytest.param(ClusterError("no answer"), "warning", "no answer", id="cluster away"),
        pytest.param(KeyError("spec"), "error", "KeyError: '...'", id="defect"),
        pytest.param(None, "warning", "it ended", id="returned"),
    ],
)
def test_whatever_ends_a_thread_is_logged_and_it_begins_again(
    monkeypatch: pytest.MonkeyPatch, failure: Exception | None, level: str, reason: str
) -> None:
    monkeypatch.setattr(backoff, "THREADS", Backoff(0.0, 0.0))
    lines, work = Lines(), Work(failure, failure)
    supervisor = Supervisor(lines)
    supervisor.start("nodes", work)
    for _ in range(2):
        line = lines.next()
        assert (line["phase"], line["thread"], line["level"]) == ("watch", "nodes", level)
        assert line["error"].startswith(reason)
    assert work.works.wait(WAIT_SECONDS)
    supervisor.stop()


def test_a_defect_turns_health_until_the_thread_has_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backoff, "THREADS", Backoff(0.0, 0.0))
    lines, work = Lines(), Work(ValueError("beyond us"))
    supervisor = Supervisor(lines)
    assert supervisor.problem == ""
    supervisor.start("drift", work)
    lines.next()
    assert work.works.wait(WAIT_SECONDS)
    assert supervisor.problem.startswith("drift: ValueError: beyond us")
    monkeypatch.setattr(module, "RECOVERED_SECONDS", 0.0)
    assert supervisor.problem == "", "it has run for long enough"
    supervisor.stop()


def test_a_cluster_that_is_away_is_no_defect_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backoff, "THREADS", Backoff(3600.0, 3600.0))
    lines = Lines()
    supervisor = Supervisor(lines)
    supervisor.start("drift", Work(ClusterError("no answer")))
    assert lines.next()["again_seconds"] > 0
    assert supervisor.problem == ""
    supervisor.stop()
