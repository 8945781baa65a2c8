"""What is scraped, recorded and told of an agent."""

import re
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.render.rendering import env, named, render, roles

SCRAPED = {"monitoring": {"namespace": "monitoring", "podLabels": {"app": "prometheus"}}}
OPERATOR = {
    "controllers": ["prometheus-operator"],
    "network": SCRAPED,
    "telemetry": {
        "otlpEndpoint": "http://otel.monitoring.svc:4317",
        "monitorLabels": {"release": "main"},
    },
}
SLO = {
    "availability": 99.5,
    "latency": {"thresholdMs": 2500, "target": 95},
    "toolSuccess": 98,
    "runbookUrl": "https://runbooks.example/support",
}
ALERT = {
    "name": "QueueIsLong",
    "expr": 'queue_length{agent="support"} > 100',
    "for": "10m",
    "severity": "critical",
    "summary": "more than a hundred requests wait",
    "runbookUrl": "https://runbooks.example/queue",
}


def telemetry(**fields: Any) -> dict[str, Any]:
    return {"telemetry": {"metrics": {}, **fields}}


def rules(rendered: Any, group: str) -> list[KubeObject]:
    groups = {each["name"]: each for each in named(rendered, "prometheusrule")["spec"]["groups"]}
    found: list[KubeObject] = groups[f"cx.support.{group}"]["rules"]
    return found


def test_metrics_that_network_rules_keep_prometheus_from_are_refused() -> None:
    with pytest.raises(RenderError, match=r"set holdfast:network\.monitoring"):
        render(telemetry(), OPERATOR | {"network": {}})
    assert render(telemetry(metrics={"serviceMonitor": "off"}), OPERATOR | {"network": {}})


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="one Service"),
        pytest.param({"rollout": {"strategy": "BlueGreen"}}, id="blue-green"),
        pytest.param(
            {
                "rollout": {"strategy": "Canary", "steps": [{"setWeight": 50}]},
                "network": {"expose": {"gatewayRef": {"name": "public"}}},
            },
            id="routed canary",
        ),
    ],
)
def test_a_pod_is_scraped_once_in_every_phase_of_a_rollout(spec: dict[str, Any]) -> None:
    stack = {
        "controllers": ["argo-rollouts", "gateway-api", "prometheus-operator"],
        "network": SCRAPED
        | {"gateway": {"namespace": "gateways", "podLabels": {"app": "gateway"}}},
    }
    rendered = render(telemetry() | spec, stack)
    monitors = [
        item.manifest
        for item in rendered
        if item.manifest["kind"] in {"PodMonitor", "ServiceMonitor"}
    ]
    (monitor,) = monitors
    wanted = monitor["spec"]["selector"]["matchLabels"]
    found = [
        item.manifest
        for item in rendered
        if item.manifest["kind"] == "Service"
        and wanted.items() <= item.manifest["metadata"]["labels"].items()
    ]
    # At rest each Service leads to every pod; in a rollout only one of them to the new ones.
    is_by_pod = monitor["kind"] == "PodMonitor"
    assert is_by_pod == ("rollout" in spec)
    assert is_by_pod or len(found) == 1
    assert len(found) == 1, "what looks for the agent's Service finds one"


def test_a_service_is_scraped_where_the_operator_is_and_named_in_every_series() -> None:
    metrics = {"interval": "15s", "path": "/m", "port": 9091}
    monitor = named(render(telemetry(metrics=metrics), OPERATOR), "servicemonitor")
    assert monitor["metadata"]["labels"]["release"] == "main"
    assert monitor["spec"] == {
        "endpoints": [{"port": "metrics", "path": "/m", "interval": "15s"}],
        "selector": {
            "matchLabels": {
                "app.kubernetes.io/name": "support",
                "app.kubernetes.io/instance": "dev",
            }
        },
        "targetLabels": ["holdfast.dev/agent", "app.kubernetes.io/version"],
    }


def test_a_pool_without_a_service_is_scraped_by_pod() -> None:
    pool = {"type": "Sandbox", "sandbox": {"warmPool": {"replicas": 1}}} | telemetry()
    stack = {"controllers": ["prometheus-operator", "agent-sandbox"], "network": SCRAPED}
    monitor = named(render(pool, stack), "podmonitor")["spec"]
    assert monitor["podMetricsEndpoints"][0]["port"] == "metrics"
    assert monitor["podTargetLabels"][0] == "holdfast.dev/agent"


@pytest.mark.parametrize(
    ("fields", "environment"),
    [
        pytest.param({}, {}, id="no operator"),
        pytest.param({"metrics": {"serviceMonitor": "off"}}, OPERATOR, id="not wanted"),
        pytest.param({"metrics": {"enabled": False}}, OPERATOR, id="no metrics"),
    ],
)
def test_nothing_is_scraped_without_need(
    fields: dict[str, Any], environment: dict[str, Any]
) -> None:
    found = roles(render(telemetry(**fields), environment))
    assert not {"servicemonitor", "podmonitor", "prometheusrule"} & found


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        pytest.param(
            {"metrics": {"serviceMonitor": "required"}}, "metrics.serviceMonitor", id="monitor"
        ),
        pytest.param({"metrics": {"alerts": [ALERT]}}, "metrics.alerts", id="alerts"),
        pytest.param({"metrics": {}, "slo": SLO}, "slo", id="objectives"),
    ],
)
def test_what_needs_the_operator_is_refused_without_it(fields: dict[str, Any], path: str) -> None:
    with pytest.raises(RenderError) as refused:
        render(telemetry(**fields))
    assert f"spec.telemetry.{path} needs Prometheus Operator" in str(refused.value)


def test_alerts_of_ones_own_are_taken_over() -> None:
    rendered = render(telemetry(metrics={"alerts": [ALERT]}) | {"owner": "care"}, OPERATOR)
    assert rules(rendered, "alerts") == [
        {
            "alert": "QueueIsLong",
            "expr": 'queue_length{agent="support"} > 100',
            "for": "10m",
            "labels": {
                "agent": "support",
                "namespace": "cx",
                "owner": "care",
                "severity": "critical",
            },
            "annotations": {
                "summary": "more than a hundred requests wait",
                "runbook_url": "https://runbooks.example/queue",
            },
        }
    ]


def test_requests_latency_tokens_and_tools_are_recorded() -> None:
    rendered = render(telemetry(slo=SLO), OPERATOR)
    assert [each["record"] for each in rules(rendered, "use")] == [
        "holdfast_agent:requests:rate5m",
        "holdfast_agent:request_seconds:p99_5m",
        "holdfast_agent:tokens:rate5m",
        "holdfast_agent:tool_success:ratio_rate5m",
    ]


def test_an_objective_burns_fast_in_an_hour_and_slowly_in_days() -> None:
    found = rules(render(telemetry(slo={"availability": 99.5}), OPERATOR), "objectives")
    alerts = [each for each in found if "alert" in each]
    thresholds = [re.findall(r"> ([0-9.]+)", each["expr"]) for each in alerts]
    assert thresholds == [["0.072", "0.072"], ["0.03", "0.03"], ["0.005", "0.005"]]
    assert [each["labels"]["severity"] for each in alerts] == ["critical", "critical", "warning"]
    assert [each["labels"]["long_window"] for each in alerts] == ["1h", "6h", "3d"]
    labels = '{agent="support",namespace="cx",slo="availability"}'
    assert alerts[0]["expr"] == (
        f"holdfast_agent:slo_errors:ratio_rate1h{labels} > 0.072 and "
        f"holdfast_agent:slo_errors:ratio_rate5m{labels} > 0.072"
    )


def test_every_time_that_an_alert_checks_is_recorded_with_its_labels() -> None:
    found = rules(render(telemetry(slo=SLO), OPERATOR), "objectives")
    recorded = {
        (each["record"], tuple(sorted(each["labels"].items())))
        for each in found
        if "record" in each
    }
    for alert in (each for each in found if "alert" in each):
        for name, labels in re.findall(r"(holdfast_agent:\S+?)\{(.*?)\}", alert["expr"]):
            pairs = tuple(sorted(re.findall(r'(\w+)="(.*?)"', labels)))
            assert (name, pairs) in recorded
        assert alert["annotations"]["runbook_url"] == "https://runbooks.example/support"


def test_latency_and_tools_count_their_own_events() -> None:
    found = rules(render(telemetry(slo=SLO), OPERATOR), "objectives")
    expressions = {each["labels"]["slo"]: each["expr"] for each in found if "record" in each}
    assert 'le="2.5"' in expressions["latency"]
    assert 'gen_ai_operation_name="execute_tool"' in expressions["tool-success"]
    assert "gen_ai_execute_tool_duration_seconds_count" in expressions["tool-success"]
    assert 'http_response_status_code=~"5.."' in expressions["availability"]


@given(st.floats(50, 99.999), st.integers(7, 90))
def test_an_alert_can_fire_whatever_is_promised(target: float, days: int) -> None:
    slo = {"availability": round(target, 3), "windowDays": days}
    found = rules(render(telemetry(slo=slo), OPERATOR), "objectives")
    for alert in (each for each in found if "alert" in each):
        assert all(0 < float(each) < 1 for each in re.findall(r"> ([0-9.e-]+)", alert["expr"]))


def test_expressions_have_matching_brackets() -> None:
    rendered = render(telemetry(slo=SLO, metrics={"alerts": [ALERT]}), OPERATOR)
    for group in named(rendered, "prometheusrule")["spec"]["groups"]:
        for rule in group["rules"]:
            bare = re.sub(r'"[^"]*"', "", rule["expr"])
            for opening, closing in ("()", "{}", "[]"):
                assert bare.count(opening) == bare.count(closing), rule["expr"]
            assert "TIME" not in rule["expr"]


def test_traces_say_whose_they_are_and_from_which_pod() -> None:
    rendered = render({"owner": "care"}, OPERATOR)
    variables = env(rendered)
    assert variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://otel.monitoring.svc:4317"
    assert variables["OTEL_EXPORTER_OTLP_PROTOCOL"] == "grpc"
    assert variables["OTEL_PROPAGATORS"] == "tracecontext,baggage"
    assert variables["OTEL_SERVICE_NAME"] == "support"
    assert variables["OTEL_TRACES_EXPORTER"] == "otlp"
    assert variables["OTEL_TRACES_SAMPLER"] == "parentbased_traceidratio"
    assert variables["OTEL_TRACES_SAMPLER_ARG"] == "0.1"
    assert set(variables["OTEL_RESOURCE_ATTRIBUTES"].split(",")) == {
        "service.namespace=cx",
        "service.version=2.1.0",
        "service.instance.id=$(AGENT_POD_NAME)",
        "k8s.namespace.name=cx",
        "k8s.pod.name=$(AGENT_POD_NAME)",
        "deployment.environment.name=dev",
    }


def test_the_pods_name_is_known_before_it_is_named() -> None:
    names = list(env(render({}, OPERATOR)))
    assert names.index("AGENT_POD_NAME") < names.index("OTEL_RESOURCE_ATTRIBUTES")


def test_log_lines_can_say_whose_they_are() -> None:
    variables = env(render({"owner": "care"}))
    assert variables["AGENT_NAME"] == "support"
    assert variables["AGENT_NAMESPACE"] == "cx"
    assert variables["AGENT_OWNER"] == "care"
    assert variables["AGENT_STACK"] == "dev"
    assert variables["AGENT_VERSION"] == "2.1.0"
    assert variables["AGENT_POD_NAME"] == {"fieldRef": {"fieldPath": "metadata.name"}}
    assert (variables["LOG_FORMAT"], variables["LOG_LEVEL"]) == ("json", "info")
