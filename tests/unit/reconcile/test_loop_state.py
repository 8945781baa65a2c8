"""What a reconciler has come to, as metrics and conditions."""

from holdfast.git.source import Commit
from holdfast.reconcile.loop_state import METRICS, LoopState

COMMIT = Commit("1" * 40, "Ann <ann@example.test>", "", "first")
FIELD = ("Deployment loop/mover", "spec.replicas")


def lines(state: LoopState) -> dict[str, float]:
    text = state.metrics().decode()
    pairs = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def condition(state: LoopState, kind: str) -> tuple[str, str]:
    (found,) = [each for each in state.status()["conditions"] if each["type"] == kind]
    return found["status"], found["reason"]


def test_work_is_counted_by_key_and_outcome() -> None:
    state = LoopState("dev")
    for key, outcome in (("commit", "succeeded"), ("mover", "failed"), ("other", "failed")):
        state.reconciled(key, outcome, 0.2)
    told = lines(state)
    assert told['holdfast_reconciles_total{key="commit",outcome="succeeded",stack="dev"}'] == 1
    assert told['holdfast_reconciles_total{key="agent",outcome="failed",stack="dev"}'] == 2


def test_a_loop_behind_its_branch_says_so_until_the_commit_runs() -> None:
    state = LoopState("dev")
    state.observed(COMMIT, is_running=False)
    assert lines(state)['holdfast_reconcile_behind{stack="dev"}'] == 1
    state.reconciled("commit", "failed", 1.0)
    assert condition(state, "Synced") == ("False", "UpdateFailed")
    state.reconciled("commit", "rejected", 1.0)
    assert condition(state, "Synced") == ("False", "CommitRejected")
    state.reconciled("commit", "succeeded", 1.0)
    assert lines(state)['holdfast_reconcile_behind{stack="dev"}'] == 0
    assert condition(state, "Synced") == ("True", "AtCommit")
    assert state.status()["wantedCommit"] == COMMIT.name


def test_a_fight_is_a_condition_and_a_metric() -> None:
    state = LoopState("dev")
    state.fought(FIELD)
    state.fights_are([FIELD])
    assert lines(state)['holdfast_fights_total{stack="dev"}'] == 1
    assert condition(state, "Stable") == ("False", "Fighting")
    state.fights_are([])
    assert condition(state, "Stable") == ("True", "NoFights")


def test_every_metric_is_in_the_table_and_exported() -> None:
    state = LoopState("dev")
    state.observed(COMMIT, is_running=True)
    state.reconciled("commit", "unchanged", 0.1)
    text = state.metrics().decode()
    assert all(f"# HELP {name.removesuffix('_total')}" in text for name in METRICS)
