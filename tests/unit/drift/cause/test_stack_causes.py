"""What one hand did on several stacks, and how the agents of each are."""

from dataclasses import replace

import pytest
from holdfast.drift.cause.stack_causes import StackDrift, shared_causes
from holdfast.drift.finding import Actor, AgentState, AgentStatus, DriftClass, DriftReport, Finding
from holdfast.kube.objects import ObjectRef
from holdfast.kube.workload_status import HEALTHY, Health, HealthVerdict

IMAGE = ("spec", "image")


def finding(time: str = "2026-11-21T10:00:00Z", user: str = "alice") -> Finding:
    ref = ObjectRef("cx", "Deployment", "support", "apps/v1")
    actor = Actor("kubectl-set", "Update", time=time, user=user)
    return Finding(ref, "support", DriftClass.CHANGED, IMAGE, "a:1", "x:1", actors=(actor,))


def stack(name: str, *found: Finding) -> StackDrift:
    return StackDrift(name, DriftReport(found))


def test_one_change_on_two_stacks_is_one_cause() -> None:
    (cause,) = shared_causes(
        [stack("prod", finding("2026-11-21T10:09:00Z")), stack("dev", finding())]
    )
    assert cause.stacks == ("dev", "prod")
    assert cause.first == "2026-11-21T10:00:00Z"
    assert cause.summary == (
        "changed spec.image in 2 objects of kind Deployment by alice through kubectl-set"
        " on 2 stacks"
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(finding(user="bob"), id="another user"),
        pytest.param(replace(finding(), live="y:1"), id="another value"),
        pytest.param(replace(finding(), path=("spec", "replicas")), id="another field"),
        pytest.param(finding("2026-11-21T10:15:01Z"), id="too late"),
        pytest.param(finding(""), id="nobody knows when"),
        pytest.param(replace(finding(), actors=()), id="nobody knows who"),
    ],
)
def test_what_is_not_the_same_is_reported_by_itself(other: Finding) -> None:
    assert shared_causes([stack("dev", finding()), stack("prod", other)]) == ()


def test_many_on_one_stack_are_not_shared() -> None:
    same = replace(finding(), ref=ObjectRef("cx", "Deployment", "other", "apps/v1"))
    assert shared_causes([stack("dev", finding(), same), stack("prod")]) == ()


@pytest.mark.parametrize("sync", list(AgentState))
@pytest.mark.parametrize("health", list(Health))
def test_an_agent_is_fine_when_it_is_in_sync_and_healthy(sync: AgentState, health: Health) -> None:
    report = DriftReport(agents=(AgentStatus("support", "cx", sync),))
    (agent,) = StackDrift("dev", report, {"support": HealthVerdict(health, "why")}).agents
    assert (agent.state.value, agent.health.health.value) == (sync.value, health.value)
    assert agent.is_fine is (sync is AgentState.SYNCED and health is Health.HEALTHY)


def test_what_was_not_asked_is_not_healthy() -> None:
    status = AgentStatus("support", "cx", AgentState.SYNCED)
    known = StackDrift("dev", DriftReport(agents=(status,)), {"other": HEALTHY})
    assert [agent.health.health for agent in known.agents] == [Health.UNKNOWN]
