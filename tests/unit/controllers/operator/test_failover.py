"""When the Service of an agent is led to the other one of primary and standby."""

from typing import Any

import pytest
from holdfast.controllers.operator.failover import FailoverState, failover_state_of
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.scaling import Availability
from hypothesis import given
from hypothesis import strategies as st

AUTOMATIC = Availability.model_validate(
    {"standby": True, "failover": "automatic", "failoverAfter": "10s"}
)
MANUAL = Availability(standby=True)


def objects(selected: str, primary: int, standby: int) -> dict[Any, KubeObject]:
    service: KubeObject = {
        "kind": "Service",
        "metadata": {"name": "rag"},
        "spec": {"selector": {"app.kubernetes.io/name": selected}},
    }
    workloads = {"rag": primary, "rag-standby": standby}
    return {("", "Service", "cx", "rag"): service} | {
        ("apps", "Deployment", "cx", name): {"kind": "Deployment", "status": {"readyReplicas": n}}
        for name, n in workloads.items()
    }


def test_both_are_read_from_what_runs() -> None:
    state = failover_state_of("rag", MANUAL, objects("rag-standby", 2, 1), "cx")
    assert state == FailoverState("rag", MANUAL, "standby", (1, 2))


@pytest.mark.parametrize(
    ("availability", "live"),
    [
        pytest.param(Availability(), objects("rag", 1, 1), id="no standby"),
        pytest.param(MANUAL, objects("stranger", 1, 1), id="the Service leads elsewhere"),
        pytest.param(MANUAL, {}, id="not deployed yet"),
    ],
)
def test_without_both_nothing_can_be_said(
    availability: Availability, live: dict[Any, KubeObject]
) -> None:
    assert failover_state_of("rag", availability, live, "cx") is None


@pytest.mark.parametrize(
    ("state", "said"),
    [
        pytest.param(
            FailoverState("rag", MANUAL, "primary", (1, 1)),
            ("False", "AsDeclared", "the primary serves"),
            id="well",
        ),
        pytest.param(
            FailoverState("rag", MANUAL, "primary", (0, 1)),
            (
                "False",
                "Offered",
                "no pod of the primary is ready, and the standby has 1: run "
                "`holdfast agent set rag scaling.availability.active=standby`",
            ),
            id="a person decides",
        ),
        pytest.param(
            FailoverState("rag", AUTOMATIC, "primary", (0, 1), 3.0),
            (
                "False",
                "Waiting",
                "no pod of the primary is ready, and the standby has 1; it takes over after 10 s",
            ),
            id="the operator waits",
        ),
        pytest.param(
            FailoverState("rag", AUTOMATIC, "standby", (1, 0)),
            (
                "True",
                "Moved",
                "the standby serves, the primary is declared: `holdfast agent set rag "
                "scaling.availability.active=standby` declares what runs",
            ),
            id="moved",
        ),
    ],
)
def test_a_condition_says_who_serves_and_what_can_be_done(
    state: FailoverState, said: tuple[str, str, str]
) -> None:
    found = state.condition
    assert (found.type, found.status, found.reason, found.message) == ("FailedOver", *said)


COUNTS = st.integers(0, 3)


@given(COUNTS, COUNTS, st.floats(0, 100), st.sampled_from([AUTOMATIC, MANUAL]))
def test_it_is_moved_only_from_where_nobody_serves_to_where_somebody_can(
    serving: int, other: int, down: float, availability: Availability
) -> None:
    state = FailoverState("rag", availability, "primary", (serving, other), down)
    expected = availability is AUTOMATIC and serving == 0 and other > 0 and down >= 10.0
    assert state.must_move == expected
