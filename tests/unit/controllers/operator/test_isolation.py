"""The failure of one agent is reported and tried again; it ends nothing else."""

import json
from io import StringIO
from typing import cast

import pytest
from holdfast.adapters.cluster.changes import Change, Moved, WatchedKind, WatchScope
from holdfast.adapters.cluster.client import JSON, ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection
from holdfast.controllers.operator.agent_reconciler import AgentReconciler
from holdfast.controllers.operator.agent_store import AgentStore
from holdfast.controllers.operator.decision import Action, Decision
from holdfast.controllers.operator.declaration import ResourceDeclaration
from holdfast.controllers.operator.loop import AgentLoop, LoopSettings
from holdfast.controllers.operator.metrics import OperatorMetrics
from holdfast.controllers.runtime.log import Logger, Output, Runs
from holdfast.controllers.runtime.workers import WorkOutcome, WorkResult
from holdfast.errors import ClusterError
from holdfast.kube.objects import ObjectRef

from tests.unit.controllers.operator.resources import verdicts

BAD, GOOD = ("cx", "bad"), ("cx", "good")
DECLARATION = cast("ResourceDeclaration", None)
CLIENT = ApiClient(Connection("http://127.0.0.1:1"))


def loop(log: StringIO, metrics: OperatorMetrics) -> AgentLoop:
    settings = LoopSettings("prod", 600.0, "pod-1")
    return AgentLoop(
        settings, CLIENT, verdicts, metrics, Logger(Output(errors=log).note, as_json=True)
    )


def failures(metrics: OperatorMetrics) -> float:
    labels = {"stack": "prod"}
    value = metrics.registry.get_sample_value("holdfast_operator_reconcile_errors_total", labels)
    return value or 0.0


def test_a_defect_is_logged_without_what_it_quotes_and_counted() -> None:
    log, metrics = StringIO(), OperatorMetrics("prod")
    operator = loop(log, metrics)
    operator._pool._under_way = 1
    operator._pool._queue.add(BAD, 0.0)
    assert operator._pool._queue.take(10.0) == BAD
    fault = ValueError("invalid literal: 'hunter2'")
    operator._end(WorkResult(BAD, WorkOutcome(is_done=False), fault))
    line = json.loads(log.getvalue())
    assert (line["level"], line["agent"]) == ("error", "bad")
    assert "ValueError: invalid literal: '...'" in line["problem"]
    assert "hunter2" not in log.getvalue()
    assert failures(metrics) == 1


def test_a_change_that_cannot_be_taken_does_not_end_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log, metrics = StringIO(), OperatorMetrics("prod")
    operator, listed = loop(log, metrics), list[int]()
    monkeypatch.setattr(operator._informers, "list_again", lambda: listed.append(1))
    ref = ObjectRef("cx", "Service", "a", "v1")
    place = WatchScope(WatchedKind(None, (ref,)), "Service")

    def take(_: Change) -> None:
        raise AttributeError("no metadata")

    monkeypatch.setattr(operator._store, "take", take)
    for _ in range(3):
        operator._take_safely(Moved(place, ref.identity, None, "1", 0.0))
    assert failures(metrics) == 3
    assert "AttributeError" in log.getvalue()
    assert listed == [1], "everything is read again, and not at once again"


@pytest.mark.parametrize(
    "decision",
    [
        pytest.param(Decision(Action.RELEASE, "deleted"), id="release"),
        pytest.param(Decision(Action.REVERT, "drift"), id="revert"),
    ],
)
def test_an_agent_that_goes_while_it_is_worked_on_is_no_error(decision: Decision) -> None:
    metrics, store = OperatorMetrics("prod"), AgentStore()
    reconciler = AgentReconciler(CLIENT, {}, store, "pod-1", metrics, Runs(lambda *_, **__: None))
    reconciler._do(GOOD, decision, DECLARATION, lambda *_, **__: None)


def test_work_that_outlives_a_stop_is_abandoned_and_writes_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = StringIO()
    client = ApiClient(Connection("http://127.0.0.1:1"))
    settings = LoopSettings("prod", 600.0, "pod-1")
    operator = AgentLoop(
        settings,
        client,
        verdicts,
        OperatorMetrics("prod"),
        Logger(Output(errors=log).note, as_json=True),
    )
    monkeypatch.setattr(operator._informers, "begin", lambda _: None)
    monkeypatch.setattr(operator._informers, "stop", lambda: None)
    for is_drained in (True, False):
        monkeypatch.setattr(operator._pool, "drain", lambda is_drained=is_drained: is_drained)
        operator.stop()
        assert operator.run() is is_drained
    assert json.loads(log.getvalue())["problem"] == "work was abandoned at the deadline"
    with pytest.raises(ClusterError, match="the process is stopping"):
        client.write("PATCH", "/api/v1/pods/a", b"{}", content_type=JSON)
