"""A suspension is a field in the cluster: set from any machine, read by every loop."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from holdfast.errors import ClusterError
from holdfast.operations.stack.agent_stack import (
    LoopControl,
    Suspension,
    control_of,
    read_control,
    resume_stack,
    suspend_stack,
)

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, fake_api

PATH = "/apis/holdfast.dev/v1alpha1/agentstacks/my-stack"
STACK = "acme/My_Stack"
BY_ANN = Suspension("ann@example.test", "2026-01-02T03:04:05Z", "an incident")
SPEC = {
    "suspend": True,
    "suspension": {"by": BY_ANN.by, "since": BY_ANN.since, "reason": BY_ANN.reason},
}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as fake:
        yield fake


def stored(spec: dict[str, Any]) -> Answer:
    return Answer({"metadata": {"name": "my-stack", "resourceVersion": "1"}, "spec": spec})


def applied(api: FakeApi) -> list[tuple[dict[str, str], dict[str, Any]]]:
    """Query and spec of each server-side apply."""
    sent = [
        (query, json.loads(body)) for method, _, query, body in api.requests if method == "PATCH"
    ]
    return [(query, body["spec"]) for query, body in sent]


@pytest.mark.parametrize(
    ("spec", "suspension"),
    [
        pytest.param(SPEC, BY_ANN, id="by the verb"),
        pytest.param({"suspend": True}, Suspension(), id="by kubectl patch"),
        pytest.param({**SPEC, "suspend": False}, None, id="resumed"),
        pytest.param({"branch": "main"}, None, id="never suspended"),
    ],
)
def test_a_loop_is_suspended_while_the_field_is_true(
    api: FakeApi, spec: dict[str, Any], suspension: Suspension | None
) -> None:
    api.on(PATH, stored(spec))
    assert read_control(api.client(), STACK) == LoopControl(suspension)


def test_where_the_cluster_has_no_such_object_or_kind_nothing_is_suspended(api: FakeApi) -> None:
    assert read_control(api.client(), STACK) == LoopControl()


def test_what_may_not_be_read_is_an_error_that_names_the_rights(api: FakeApi) -> None:
    api.on(PATH, failure(403, "forbidden"))
    with pytest.raises(ClusterError, match=r"cannot be read.*--loop"):
        read_control(api.client(), STACK)


def test_a_suspension_is_applied_with_user_time_and_reason(api: FakeApi) -> None:
    api.on(PATH, failure(404), stored(SPEC))
    suspend_stack(api.client(), STACK, BY_ANN)
    [(query, spec)] = applied(api)
    assert spec == SPEC
    assert (query["fieldManager"], query["force"]) == ("holdfast-suspend", "true")


def test_resuming_ends_the_suspension_and_all_conflicts(api: FakeApi) -> None:
    api.on(PATH, stored(SPEC))
    assert resume_stack(api.client(), STACK) == BY_ANN
    [(_, spec)] = applied(api)
    assert (spec["suspend"], "suspension" in spec) == (False, False)
    assert spec["conflictsResetAt"] > BY_ANN.since


def test_suspending_again_keeps_the_end_of_earlier_conflicts(api: FakeApi) -> None:
    reset = {"conflictsResetAt": "2026-01-01T00:00:00Z"}
    api.on(PATH, stored(reset))
    suspend_stack(api.client(), STACK, BY_ANN)
    assert applied(api)[0][1] == {**SPEC, **reset}


def test_a_cluster_without_the_kind_is_named_with_the_command_that_installs_it(
    api: FakeApi,
) -> None:
    with pytest.raises(ClusterError, match=r"does not serve AgentStack.*holdfast operator install"):
        suspend_stack(api.client(), STACK, BY_ANN)


def test_recorded_conflicts_are_read_with_their_time() -> None:
    recorded = {"object": "Deployment loop/a", "path": "spec.replicas", "since": BY_ANN.since}
    control = control_of({"status": {"conflicts": [recorded]}})
    assert control.conflicts == {("Deployment loop/a", "spec.replicas"): BY_ANN.since}


@pytest.mark.parametrize(
    ("suspension", "words"),
    [
        (BY_ANN, "suspended by ann@example.test since 2026-01-02T03:04:05Z: an incident"),
        (Suspension(), "suspended"),
    ],
)
def test_a_suspension_names_what_is_known_of_it(suspension: Suspension, words: str) -> None:
    assert str(suspension) == words
