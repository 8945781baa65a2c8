"""The reconciler with a source and an actor of the test's own: what is done, and what is not."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops.reconciler import (
    COMMIT,
    DRIFT,
    Poll,
    Reconciler,
)
from holdfast.controllers.gitops.roles import (
    BlockedReason,
    Comparison,
    DriftedAgent,
    Field,
    LoopListener,
    RejectedCommitError,
)
from holdfast.controllers.runtime.conflicts import MOST_REVERTS
from holdfast.errors import ClusterError, EngineError, ExitCode
from holdfast.operations.stack.agent_stack import LoopControl, Suspension

FIRST = Commit("1" * 40, "Ann <ann@example.test>", "", "first")
SECOND = Commit("2" * 40, "Ann <ann@example.test>", "", "second")
REPLICAS = ("Deployment loop/mover", "spec.replicas")
IMAGE = ("Deployment loop/mover", "spec.template.spec.containers[name=agent].image")


@dataclass
class World:
    """Source and actor in one: a repository, a stack and a cluster."""

    wanted: Commit = FIRST
    running: str = ""
    busy: str = ""
    said: LoopControl = field(default_factory=LoopControl)
    problem: Exception | None = None
    drift: list[DriftedAgent] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def newest(self) -> Commit:
        return self.wanted

    def blocked_by(self) -> BlockedReason | None:
        return BlockedReason("Locked", self.busy) if self.busy else None

    def control(self) -> LoopControl:
        return self.said

    def running_commit(self) -> str:
        return self.running

    def update(self, commit: Commit) -> str:
        self.done.append(f"update {commit.subject}")
        if self.problem is not None:
            raise self.problem
        self.running = commit.name
        return "updated"

    def drifted(self, agent: str = "") -> Comparison:
        return Comparison(tuple(each for each in self.drift if agent in ("", each.name)))

    def remediate(self, agent: str, fields: Sequence[Field]) -> str:
        self.done.append(f"put back {agent}: {', '.join(path for _, path in fields)}")
        return "put back"


@dataclass
class Bench:
    """A reconciler on such a world, worked by hand: time is not waited for."""

    world: World
    phases: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reconciler = Reconciler(self.world, self._log)

    def _log(self, phase: str, **told: Any) -> None:
        self.phases.append((phase, told))

    def work(self, key: str) -> list[str]:
        """Ask, do it at once, and return the phases it was told in."""
        before = len(self.phases)
        pool = self.reconciler._pool
        pool.ask([key], is_urgent=True)
        queue = pool._queue
        queue._ask(key, queue._keys[key], 0.0)  # the least time between two looks is not waited for
        pool.begin_due()
        return [phase for phase, _ in self.phases[before:]]


def agent(mode: str, *fields: Field) -> DriftedAgent:
    return DriftedAgent("mover", mode, fields)


def test_a_new_commit_is_brought_to_the_stack_once_in_three_phases_of_one_id() -> None:
    bench = Bench(World())
    assert bench.work(COMMIT) == ["observe", "diff", "act"]
    assert len({told["id"] for _, told in bench.phases}) == 1
    assert bench.work(COMMIT) == ["observe", "diff"]
    assert bench.world.done == ["update first"]


def test_a_commit_that_was_rejected_is_not_tried_again_until_there_is_another() -> None:
    bench = Bench(World(problem=RejectedCommitError("policy")))
    assert bench.work(COMMIT)[-1] == "error"
    assert bench.work(COMMIT) == ["observe", "diff"]
    bench.world.wanted, bench.world.problem = SECOND, None
    bench.work(COMMIT)
    assert bench.world.done == ["update first", "update second"]


def test_any_other_failure_is_tried_again_after_a_rest() -> None:
    bench = Bench(World(problem=ClusterError("cannot be reached")))
    assert bench.work(COMMIT)[-2:] == ["error", "rest"]
    assert bench.phases[-1][1]["seconds"] == 2.0
    bench.reconciler._pool.begin_due()
    assert bench.world.done == ["update first"], "it backs off"
    bench.world.problem = None
    bench.work(COMMIT)
    assert bench.world.running == FIRST.name


def test_what_no_revert_reverts_is_reported_and_is_no_fight() -> None:
    left = DriftedAgent("mover", "revert", (IMAGE, REPLICAS), {IMAGE: "Flux puts it back"})
    bench = Bench(World(drift=[left]))
    for _ in range(MOST_REVERTS):
        assert "leave" in bench.work(DRIFT)
    assert set(bench.world.done) == {f"put back mover: {REPLICAS[1]}"}
    assert [told["path"] for phase, told in bench.phases if phase == "conflict"] == [REPLICAS[1]]
    bench.world.drift = [DriftedAgent("mover", "revert", (IMAGE,), left.left)]
    assert bench.work(DRIFT) == ["observe", "leave", "diff"]


def test_nothing_is_done_while_somebody_else_is_at_it() -> None:
    bench = Bench(World(busy="the stack is locked by ann@laptop", drift=[agent("revert", IMAGE)]))
    assert bench.work(COMMIT) == ["wait"]
    assert bench.work(DRIFT) == ["wait"]
    assert bench.world.done == []
    bench.world.busy = ""
    bench.work(DRIFT)
    assert bench.world.done == [f"put back mover: {IMAGE[1]}"]


def test_drift_is_dealt_with_as_the_manifest_says() -> None:
    bench = Bench(World(drift=[agent("report", IMAGE)]))
    assert bench.work("mover") == ["observe", "diff"]
    bench.world.drift = [agent("adopt", IMAGE)]
    bench.work("mover")
    assert bench.world.done == [f"put back mover: {IMAGE[1]}"]
    assert bench.work("another") == ["observe"]


def test_a_field_that_is_fought_over_is_only_reported_the_others_go_on() -> None:
    bench = Bench(World(drift=[agent("revert", REPLICAS)]))
    contested: list[Field] = []

    class Told(LoopListener):
        def conflict_opened(self, field: Field) -> None:
            contested.append(field)

    bench.reconciler._listeners = (Told(),)
    for _ in range(MOST_REVERTS + 3):
        bench.work("mover")
    assert len(bench.world.done) == MOST_REVERTS
    assert contested == [REPLICAS]
    bench.world.drift = [agent("revert", REPLICAS, IMAGE)]
    bench.work("mover")
    assert bench.world.done[-1] == f"put back mover: {IMAGE[1]}"


def test_a_person_or_a_new_commit_ends_a_fight() -> None:
    bench = Bench(World(drift=[agent("revert", REPLICAS)]))
    for _ in range(MOST_REVERTS + 1):
        bench.work("mover")
    bench.world.said = LoopControl(conflicts_reset_at="2026-01-02T00:00:00Z")
    bench.work("mover")
    assert len(bench.world.done) == MOST_REVERTS + 1
    for _ in range(MOST_REVERTS):
        bench.work("mover")
    bench.world.done.clear()
    bench.work(COMMIT)
    bench.work("mover")
    assert bench.world.done == ["update first", f"put back mover: {REPLICAS[1]}"]


def test_a_suspended_stack_waits_with_user_time_and_reason() -> None:
    bench = Bench(World(drift=[agent("revert", REPLICAS)]))
    bench.world.said = LoopControl(Suspension("ann", "2026-01-02T00:00:00Z", "an incident"))
    assert [*bench.work(COMMIT), *bench.work(DRIFT)] == ["wait", "wait"]
    assert (
        bench.phases[-1][1]["reason"] == "suspended by ann since 2026-01-02T00:00:00Z: an incident"
    )
    bench.world.said = LoopControl()
    bench.work(COMMIT)
    assert bench.world.done == ["update first"]


@pytest.mark.parametrize(
    ("world", "seconds"),
    [
        pytest.param(World(busy="locked by ann"), 2, id="a lock"),
        pytest.param(World(said=LoopControl(Suspension())), 30, id="a suspension: it is watched"),
    ],
)
def test_blocked_work_is_tried_again_by_itself(world: World, seconds: float) -> None:
    bench = Bench(world)
    bench.work(COMMIT)
    due = bench.reconciler._pool.seconds_until_due()
    assert due is not None
    assert seconds - 1 < due <= seconds


@pytest.mark.parametrize(
    ("reset_at", "is_reverted"),
    [
        pytest.param("", False, id="goes on after a restart"),
        pytest.param("2026-01-01T00:00:00Z", False, id="an earlier end of conflicts"),
        pytest.param("2026-01-03T00:00:00Z", True, id="ended while the loop was down"),
    ],
)
def test_a_recorded_conflict_survives_a_restart_of_the_loop(
    reset_at: str, *, is_reverted: bool
) -> None:
    bench = Bench(World(drift=[agent("revert", REPLICAS)]))
    recorded = {REPLICAS: "2026-01-02T00:00:00Z"}
    bench.world.said = LoopControl(conflicts_reset_at=reset_at, conflicts=recorded)
    bench.work("mover")
    assert bool(bench.world.done) == is_reverted


def test_being_cancelled_ends_the_loop() -> None:
    world = World(problem=EngineError("cancelled", exit_code=ExitCode.CANCELLED))
    bench = Bench(world)
    bench.reconciler.run([Poll(COMMIT, 3600.0)])
    assert world.done == ["update first"]


def test_those_who_asks_from_another_thread_is_heard_at_once() -> None:
    world = World()
    bench = Bench(world)
    thread = threading.Thread(target=bench.reconciler.run)
    thread.start()
    assert bench.reconciler.seconds_since_turn() < 60
    bench.reconciler.ask(COMMIT, is_urgent=True)
    deadline = time.monotonic() + 30
    while not world.running and time.monotonic() < deadline:
        time.sleep(0.01)
    bench.reconciler.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert world.running == FIRST.name


def test_a_defect_in_one_piece_of_work_is_tried_again_and_ends_nothing() -> None:
    bench = Bench(World(problem=KeyError("replicas")))
    assert bench.work(COMMIT)[-2:] == ["error", "rest"]
    (error,) = [told["error"] for phase, told in bench.phases if phase == "error"]
    assert error.startswith("KeyError")
    bench.world.problem = None
    assert bench.work(COMMIT) == ["observe", "diff", "act"]


def test_a_listener_that_fails_stops_no_work() -> None:
    class Broken(LoopListener):
        def reconciled(self, key: str, outcome: str, seconds: float) -> None:
            raise ValueError("no room")

    bench = Bench(World())
    bench.reconciler._listeners = [Broken()]
    assert bench.work(COMMIT)[:3] == ["observe", "diff", "act"]
    assert bench.work(COMMIT)[:2] == ["observe", "diff"]


def test_nothing_more_is_reverted_once_it_is_to_stop() -> None:
    bench = Bench(World(drift=[agent("revert", REPLICAS)]))
    bench.reconciler.stop()
    bench.work(DRIFT)
    assert bench.world.done == []
