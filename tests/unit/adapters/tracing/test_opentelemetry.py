"""Traces: sent as the variables of OpenTelemetry say, without secrets, and never waited for."""

import subprocess
import sys

import pytest
from holdfast.adapters.tracing.opentelemetry import tracer_of
from holdfast.adapters.tracing.spans import UNTRACED, Tracer
from holdfast.errors import ClusterError, InputError

from tests.trace_collector import Collector, collecting

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}


def sending(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, told: list[str], **more: str
) -> Tracer:
    variables = collector.variables | more
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    tracer, place = tracer_of(variables, "dev", "1.2.3", told.append)
    assert place.startswith("127.0.0.1 ")
    return tracer


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({}, id="nothing-said"),
        pytest.param(ENDPOINT | {"OTEL_TRACES_EXPORTER": "none"}, id="no-exporter"),
        pytest.param(ENDPOINT | {"OTEL_SDK_DISABLED": "true"}, id="disabled"),
    ],
)
def test_without_a_collector_nothing_is_traced(variables: dict[str, str]) -> None:
    assert tracer_of(variables, "dev", "1", print) == (UNTRACED, "")
    with UNTRACED.span("reconcile", agent="x") as span:
        span.note(outcome="done")
        span.fail("nothing")
        assert span.trace_id == ""
    UNTRACED.close()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        pytest.param(
            {"OTEL_TRACES_EXPORTER": "zipkin"},
            "OTEL_TRACES_EXPORTER='zipkin': expected otlp or none; correct the variable",
            id="exporter",
        ),
        pytest.param(
            ENDPOINT | {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
            "OTEL_EXPORTER_OTLP_PROTOCOL='http/json': expected http/protobuf or grpc; "
            "correct the variable",
            id="protocol",
        ),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
            "OTEL_EXPORTER_OTLP_ENDPOINT: expected an address such as http://collector:4318, "
            "got one without a host",
            id="endpoint",
        ),
    ],
)
def test_what_is_not_offered_is_refused(variables: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as refused:
        tracer_of(variables, "dev", "1", print)
    assert str(refused.value) == message


def test_steps_come_as_one_trace_with_their_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector:
        headers = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc"}
        tracer = sending(collector, monkeypatch, [], **headers)
        with tracer.span("reconcile", agent="one", trigger=["resync"], nothing="") as work:
            trace = work.trace_id
            with tracer.span("diff") as step:
                step.note(findings=2)
        tracer.close()
    whole, part = collector.spans
    assert whole.trace_id == part.trace_id == trace
    assert (whole.name, whole.parent, part.name, part.parent) == (
        "reconcile", "", "diff", whole.identifier,
    )  # fmt: skip
    assert whole.attributes == {"holdfast.agent": "one", "holdfast.trigger": ["resync"]}
    assert part.attributes == {"holdfast.findings": 2}
    assert whole.resource["service.name"] == "holdfast"
    assert whole.resource["service.version"] == "1.2.3"
    assert collector.headers[0]["authorization"] == "Bearer abc"


def test_an_error_is_noted_in_our_words_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as collector:
        tracer = sending(collector, monkeypatch, [])
        with pytest.raises(ClusterError), tracer.span("act"):
            raise ClusterError("no right to patch", remedy="grant it")
        with pytest.raises(ValueError, match="hunter2"), tracer.span("act"):
            raise ValueError("hunter2")
        tracer.close()
    assert [each.problem for each in collector.spans] == [
        "no right to patch; grant it",
        "ValueError",
    ]
    assert "hunter2" not in str(collector.spans)


def test_a_collector_that_refuses_is_reported_without_its_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    with collecting(status=401) as collector:
        address = collector.address.replace("http://", "http://me:hunter2@")
        tracer = sending(
            collector, monkeypatch, told, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{address}/v1/traces"
        )
        for _ in range(3):
            with tracer.span("reconcile"):
                pass
        tracer.close()
    assert len(told) == 1
    assert "401" in told[0]
    assert "hunter2" not in told[0]


def test_a_collector_that_is_down_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    with collecting() as collector:
        pass
    tracer = sending(collector, monkeypatch, told)
    with tracer.span("reconcile"):
        pass
    tracer.close()
    assert told


def test_nothing_is_loaded_where_nothing_is_traced() -> None:
    code = (
        "import sys, holdfast.controllers.runtime.log\n"
        "import holdfast.controllers.gitops.reconciler\n"
        "from holdfast.adapters.tracing.opentelemetry import tracer_of\n"
        "tracer_of({}, 'dev', '1', print)\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
