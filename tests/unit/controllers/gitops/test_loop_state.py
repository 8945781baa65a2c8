"""What a reconciler has come to, as metrics and conditions."""

from dataclasses import replace

from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops.loop_conditions import LoopConditions
from holdfast.controllers.gitops.loop_state import METRICS, LoopState
from prometheus_client import generate_latest

COMMIT = Commit("1" * 40, "Ann <ann@example.test>", "", "first")
FIELD = ("Deployment loop/mover", "spec.replicas")


def lines(state: LoopState) -> dict[str, float]:
    text = generate_latest(state.registry).decode()
    pairs = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def new_state() -> LoopState:
    return LoopState("dev", LoopConditions())


def test_work_is_counted_by_key_and_outcome() -> None:
    state = new_state()
    for key, outcome in (("commit", "succeeded"), ("mover", "failed"), ("other", "failed")):
        state.reconciled(key, outcome, 0.2)
    told = lines(state)
    assert told['holdfast_reconciles_total{key="commit",outcome="succeeded",stack="dev"}'] == 1
    assert told['holdfast_reconciles_total{key="agent",outcome="failed",stack="dev"}'] == 2


def test_a_loop_behind_its_branch_says_so_until_the_commit_runs() -> None:
    state = new_state()
    state.observed(COMMIT, "")
    assert lines(state)['holdfast_reconcile_behind{stack="dev"}'] == 1
    state.reconciled("commit", "failed", 1.0)
    assert lines(state)['holdfast_reconcile_behind{stack="dev"}'] == 1
    state.updated(COMMIT, "updated mover")
    assert lines(state)['holdfast_reconcile_behind{stack="dev"}'] == 0


def test_the_status_is_what_the_conditions_say_with_the_time_since_when() -> None:
    conditions = LoopConditions()
    state = LoopState("dev", conditions)
    for listener in (conditions, state):
        listener.observed(COMMIT, COMMIT.name)
    status = state.status()
    assert (status["wantedCommit"], status["isRunning"]) == (COMMIT.name, True)
    synced = status["conditions"][0]
    assert (synced["type"], synced["status"], synced["reason"]) == ("Synced", "True", "AtCommit")
    assert synced["lastTransitionTime"].endswith("Z")
    assert "observedGeneration" not in synced


def test_the_wait_of_a_commit_is_reported_in_seconds_until_it_runs() -> None:
    state, name = new_state(), 'holdfast_reconcile_behind_seconds{stack="dev"}'
    assert lines(state)[name] == 0
    state.observed(COMMIT, "")
    first = lines(state)[name]
    state.observed(replace(COMMIT, name="2" * 40), "")
    assert 0 < first < lines(state)[name]
    state.updated(COMMIT, "updated mover")
    assert lines(state)[name] == 0


def test_a_fight_is_counted_and_open_until_it_is_closed() -> None:
    state = new_state()
    state.conflict_opened(FIELD)
    state.conflicts_are([FIELD])
    assert lines(state)['holdfast_conflicts_total{stack="dev"}'] == 1
    assert lines(state)['holdfast_conflicts_open{stack="dev"}'] == 1
    state.conflicts_are([])
    assert lines(state)['holdfast_conflicts_open{stack="dev"}'] == 0


def test_every_metric_is_in_the_table_and_exported() -> None:
    state = new_state()
    state.observed(COMMIT, COMMIT.name)
    state.reconciled("commit", "unchanged", 0.1)
    text = generate_latest(state.registry).decode()
    assert all(f"# HELP {name.removesuffix('_total')}" in text for name in METRICS)


def test_a_loop_says_whether_it_is_the_one_that_acts() -> None:
    state = new_state()
    assert lines(state)['holdfast_reconcile_leader{stack="dev"}'] == 0
    state.leads(True)
    assert lines(state)['holdfast_reconcile_leader{stack="dev"}'] == 1
    assert state.status()["isLeader"] is True
