"""Scaling by schedule and to zero, by KEDA.

KEDA makes the HorizontalPodAutoscaler itself; whatever asks for most replicas wins.

Source: KEDA documentation 2.17, "ScaledObject specification", scalers cron, cpu, memory and
prometheus.
"""

from holdfast.kube.objects import KubeObject
from holdfast.kube.quantities import parse_quantity
from holdfast.manifest.agent.scaling import Scaling, ScalingMetric, ScalingSchedule
from holdfast.render.objects.behavior import behavior_of
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Surroundings

POLLING_SECONDS = 30
DEFAULT_COOLDOWN_SECONDS = 300


def render_scaled_object(
    marks: AgentMarks, scaling: Scaling, target: KubeObject, surroundings: Surroundings
) -> RenderedObject:
    """ScaledObject of an agent that runs by schedule or sleeps when idle.

    Args:
        marks: The agent's marks.
        scaling: Its range, schedules and idleness.
        target: The workload, as autoscalers refer to it.
        surroundings: Where Prometheus is.
    """
    address = surroundings.environment.telemetry.prometheus_url or ""
    body: KubeObject = {
        "scaleTargetRef": target,
        "cooldownPeriod": scaling.idle_seconds or DEFAULT_COOLDOWN_SECONDS,
        "maxReplicaCount": scaling.most_replicas,
        "minReplicaCount": scaling.base_replicas,
        "pollingInterval": POLLING_SECONDS,
        "triggers": [
            *(_metric_trigger(marks, metric, address) for metric in scaling.metrics),
            *(_cron_trigger(schedule) for schedule in scaling.schedules),
        ],
    }
    if scaling.idle_seconds is not None:
        body["idleReplicaCount"] = 0
    if scaling.behavior:
        autoscaler = {"behavior": behavior_of(scaling.behavior)}
        body["advanced"] = {"horizontalPodAutoscalerConfig": autoscaler}
    metadata = marks.metadata()
    # KEDA writes this label itself.
    labels = metadata["labels"] | {"scaledobject.keda.sh/name": marks.name}
    manifest: KubeObject = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": metadata | {"labels": labels},
        "spec": body,
    }
    return RenderedObject(marks.name, "scaledobject", manifest)


def _cron_trigger(schedule: ScalingSchedule) -> KubeObject:
    return {
        "type": "cron",
        "metadata": {
            "timezone": schedule.timezone,
            "start": schedule.start,
            "end": schedule.end,
            "desiredReplicas": str(schedule.replicas),
        },
    }


def _metric_trigger(marks: AgentMarks, metric: ScalingMetric, address: str) -> KubeObject:
    if metric.type == "Resource":
        kind = "Utilization" if isinstance(metric.target, int) else "AverageValue"
        value = {"value": str(metric.target)}
        return {"type": metric.name, "metricType": kind, "metadata": value}
    matchers = [f'{name}="{value}"' for name, value in sorted(metric.selector.items())]
    if metric.type == "Pods":
        matchers = [f'namespace="{marks.namespace}"', f'pod=~"{marks.name}-.*"', *matchers]
    query = f"sum({metric.name}{{{','.join(matchers)}}})"
    return prometheus_trigger(address, query, metric.target)


def prometheus_trigger(address: str, query: str, target: int | str) -> KubeObject:
    """KEDA's scaler for a value that Prometheus knows.

    Args:
        address: Of Prometheus.
        query: PromQL of the value.
        target: How much of it is for one replica, or run.
    """
    threshold = f"{float(parse_quantity(target)):g}"
    parts = {"serverAddress": address, "query": query, "threshold": threshold}
    return {"type": "prometheus", "metricType": "AverageValue", "metadata": parts}
