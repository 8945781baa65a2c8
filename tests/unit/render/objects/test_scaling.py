import re
from dataclasses import replace
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.render.plan.render_agent import render_agent

from tests.unit.render.rendering import named, plan
from tests.unit.render.workloads import EVERYTHING, IMAGE, body, render

QUEUE = {"type": "External", "name": "queue_depth", "target": 5, "selector": {"queue": "support"}}
INFLIGHT = {"type": "Pods", "name": "agent_inflight_requests", "target": "1500m"}
CPU = {"type": "Resource", "name": "cpu", "target": 70}
OFFICE = {
    "start": "0 8 * * 1-5",
    "end": "0 18 * * 1-5",
    "timezone": "Europe/London",
    "replicas": 6,
}


def scaled(**scaling: Any) -> Any:
    return render({"scaling": scaling})


def test_a_metric_of_one_container_leaves_its_sidecars_out() -> None:
    own = {"type": "ContainerResource", "name": "cpu", "target": 70}
    proxy = {"type": "ContainerResource", "name": "memory", "target": "1Gi", "container": "proxy"}
    scaling = {"minReplicas": 2, "maxReplicas": 9, "metrics": [own, proxy]}
    beside = {"sidecars": [{"name": "proxy", "image": IMAGE}]}
    metrics = body(render({"scaling": scaling, "pod": beside}), "autoscaler")
    assert [each["containerResource"] for each in metrics["metrics"]] == [
        {
            "name": "cpu",
            "container": "agent",
            "target": {"type": "Utilization", "averageUtilization": 70},
        },
        {
            "name": "memory",
            "container": "proxy",
            "target": {"type": "AverageValue", "averageValue": "1Gi"},
        },
    ]
    by_keda = {"minReplicas": 2, "maxReplicas": 9, "metrics": [own], "schedules": [OFFICE]}
    trigger = body(scaled(**by_keda), "scaledobject")["triggers"][0]
    assert (trigger["type"], trigger["metricType"]) == ("cpu", "Utilization")
    assert trigger["metadata"] == {"value": "70", "containerName": "agent"}


def test_an_autoscaler_has_every_metric_and_the_declared_behavior() -> None:
    memory = {"type": "Resource", "name": "memory", "target": "2Gi"}
    behavior = {
        "scaleUp": {"stabilizationWindowSeconds": 0},
        "scaleDown": {
            "selectPolicy": "Min",
            "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}],
            "tolerance": "50m",
        },
    }
    rendered = scaled(
        minReplicas=2, maxReplicas=9, metrics=[CPU, memory, INFLIGHT, QUEUE], behavior=behavior
    )
    autoscaler = body(rendered, "autoscaler")
    cpu, memory_metric, inflight, queue = autoscaler["metrics"]
    assert cpu["resource"]["target"] == {"type": "Utilization", "averageUtilization": 70}
    assert memory_metric["resource"]["target"] == {"type": "AverageValue", "averageValue": "2Gi"}
    assert inflight["pods"]["target"] == {"type": "AverageValue", "averageValue": "1500m"}
    assert queue["external"]["metric"] == {
        "name": "queue_depth",
        "selector": {"matchLabels": {"queue": "support"}},
    }
    assert autoscaler["behavior"] == behavior


def test_scaling_to_zero_is_kedas_and_then_there_is_no_autoscaler_of_ours() -> None:
    rendered = scaled(minReplicas=2, maxReplicas=9, metrics=[QUEUE, CPU], idleSeconds=120)
    keda = body(rendered, "scaledobject")
    assert "autoscaler" not in rendered
    assert "replicas" not in body(rendered, "deployment")
    assert keda["scaleTargetRef"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "support",
    }
    assert (keda["minReplicaCount"], keda["maxReplicaCount"]) == (2, 9)
    assert (keda["idleReplicaCount"], keda["cooldownPeriod"]) == (0, 120)
    queue, cpu = keda["triggers"]
    assert queue == {
        "type": "prometheus",
        "metricType": "AverageValue",
        "metadata": {
            "serverAddress": "http://prometheus.monitoring.svc:9090",
            "query": 'sum(queue_depth{queue="support"})',
            "threshold": "5",
        },
    }
    assert cpu == {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "70"}}


def test_a_metric_of_pods_is_asked_for_the_agents_own() -> None:
    rendered = scaled(minReplicas=1, maxReplicas=9, metrics=[INFLIGHT], idleSeconds=60)
    trigger = body(rendered, "scaledobject")["triggers"][0]["metadata"]
    found = re.fullmatch(
        r'sum\(agent_inflight_requests\{namespace="cx",pod=~"(.+)"\}\)', trigger["query"]
    )
    assert found is not None
    # Prometheus matches whole values.
    pods = re.compile(found[1])
    assert pods.fullmatch("support-7d9f8c6b5-x2x4z")
    for other in (
        "support-rag-7d9f8c6b5-x2x4z",
        "support-standby-7d9f8c6b5-x2x4z",
        "support-check-x2x4z",
        "support-backup-29400000-x2x4z",
    ):
        assert pods.fullmatch(other) is None, other
    assert trigger["threshold"] == "1.5"


STANDBY = {"standby": True, "active": "standby"}


def scale_targets(rendered: Any, kind: str) -> dict[str, Any]:
    """Workload to the spec of what scales it."""
    specs = [each.manifest["spec"] for each in rendered if each.manifest["kind"] == kind]
    return {spec["scaleTargetRef"]["name"]: spec for spec in specs}


@pytest.mark.parametrize(
    ("kind", "idle", "fewest"),
    [
        pytest.param("HorizontalPodAutoscaler", {}, "minReplicas", id="autoscaler"),
        pytest.param("ScaledObject", {"idleSeconds": 60}, "minReplicaCount", id="KEDA"),
    ],
)
def test_who_serves_after_a_fail_over_is_scaled(
    kind: str, idle: dict[str, Any], fewest: str
) -> None:
    scaling = {"minReplicas": 4, "maxReplicas": 12, "metrics": [INFLIGHT]} | idle
    agent = plan({"scaling": scaling | {"availability": STANDBY}}, EVERYTHING)
    rendered = render_agent(agent)
    serving = named(rendered, "service")["spec"]["selector"]["app.kubernetes.io/name"]
    assert serving == "support-standby"
    targets = scale_targets(rendered, kind)
    assert {name: spec[fewest] for name, spec in targets.items()} == {
        "support": 4,
        "support-standby": 4,
    }
    # Its number is not declared beside: two would write it.
    assert "replicas" not in named(rendered, "deployment-standby")["spec"]
    if idle:
        assert "idleReplicaCount" not in targets["support-standby"]
        (pods,) = re.findall(
            r'pod=~"(.+)"', targets["support-standby"]["triggers"][0]["metadata"]["query"]
        )
        assert re.fullmatch(pods, "support-standby-7d9f8c6b5-x2x4z")
        assert not re.fullmatch(pods, "support-7d9f8c6b5-x2x4z")


def test_replicas_stay_when_prometheus_does_not_answer() -> None:
    fallback = body(
        scaled(minReplicas=3, maxReplicas=9, metrics=[INFLIGHT], idleSeconds=60), "scaledobject"
    )["fallback"]
    assert fallback["replicas"] == 3
    assert fallback["behavior"] == "currentReplicasIfHigher"
    # KEDA refuses it where nothing but the clock, or CPU and memory, is asked.
    assert "fallback" not in body(scaled(schedules=[OFFICE]), "scaledobject")


def test_pods_with_a_name_that_was_cut_are_still_asked_for() -> None:
    long = "a" * 52
    scaling = {"minReplicas": 1, "maxReplicas": 9, "metrics": [INFLIGHT], "idleSeconds": 60}
    agent = plan({"scaling": scaling}, EVERYTHING)
    rendered = render_agent(replace(agent, meta=replace(agent.meta, name=long)))
    trigger = named(rendered, "scaledobject")["spec"]["triggers"][0]
    (pods,) = re.findall(r'pod=~"(.+)"', trigger["metadata"]["query"])
    # generateName is cut at 58 characters, then five more follow.
    assert re.fullmatch(pods, f"{long}-7d9f8c6b5-"[:58] + "x2x4z")


@pytest.mark.parametrize(
    ("scaling", "fewest", "most"),
    [
        pytest.param({"replicas": 2}, 2, 6, id="fixed outside the schedule"),
        pytest.param({}, 1, 6, id="one outside the schedule"),
        pytest.param({"minReplicas": 3, "maxReplicas": 9}, 3, 9, id="range outside the schedule"),
    ],
)
def test_a_schedule_adds_replicas_to_what_else_is_said(
    scaling: dict[str, Any], fewest: int, most: int
) -> None:
    keda = body(scaled(schedules=[OFFICE], **scaling), "scaledobject")
    assert (keda["minReplicaCount"], keda["maxReplicaCount"]) == (fewest, most)
    assert "idleReplicaCount" not in keda
    assert keda["triggers"] == [
        {
            "type": "cron",
            "metadata": {
                "timezone": "Europe/London",
                "start": "0 8 * * 1-5",
                "end": "0 18 * * 1-5",
                "desiredReplicas": "6",
            },
        }
    ]


def test_an_agent_may_run_by_schedule_alone_and_sleep_outside_it() -> None:
    keda = body(scaled(schedules=[OFFICE], idleSeconds=60), "scaledobject")
    assert (keda["idleReplicaCount"], keda["minReplicaCount"]) == (0, 1)


def test_behavior_reaches_the_autoscaler_that_keda_makes() -> None:
    behavior = {"scaleDown": {"selectPolicy": "Disabled"}}
    keda = body(scaled(schedules=[OFFICE], behavior=behavior), "scaledobject")
    assert keda["advanced"] == {"horizontalPodAutoscalerConfig": {"behavior": behavior}}


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        pytest.param({}, r"spec\.scaling\.schedules needs KEDA", id="no KEDA"),
        pytest.param(
            {"controllers": ["keda"]},
            r"spec\.scaling\.metrics\[0\] needs a source of metrics",
            id="no Prometheus",
        ),
    ],
)
def test_what_keda_needs_is_refused_without(environment: dict[str, Any], words: str) -> None:
    spec = {
        "scaling": {
            "minReplicas": 1,
            "maxReplicas": 9,
            "metrics": [QUEUE],
            "schedules": [OFFICE],
        }
    }
    with pytest.raises(RenderError, match=words):
        render(spec, environment)


def test_a_queue_is_named_on_the_workload_and_on_its_pods() -> None:
    rendered = render({"pod": {"queueName": "gpu-team-a"}})
    deployment = rendered["deployment"].manifest
    for labels in (
        deployment["metadata"]["labels"],
        deployment["spec"]["template"]["metadata"]["labels"],
    ):
        assert labels["kueue.x-k8s.io/queue-name"] == "gpu-team-a"
    assert "kueue.x-k8s.io/queue-name" not in rendered["service"].manifest["metadata"]["labels"]
    assert "kueue.x-k8s.io/queue-name" not in deployment["spec"]["selector"]["matchLabels"]


def test_a_queue_needs_kueue() -> None:
    with pytest.raises(RenderError, match=r"spec\.pod\.queueName needs Kueue"):
        render({"pod": {"queueName": "gpu-team-a"}}, {})
