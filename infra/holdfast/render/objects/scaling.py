"""How many replicas run, and how many may be missing at once.

By HorizontalPodAutoscaler; by schedule and to zero by KEDA, which makes the HorizontalPodAutoscaler
itself; whatever asks for most replicas wins.

Source: KEDA documentation 2.17, "ScaledObject specification", scalers cron, cpu, memory and
prometheus.
"""

from holdfast.kube.objects import KubeObject
from holdfast.kube.scalars import parse_quantity
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.scaling import Scaling, ScalingBehavior, ScalingMetric, ScalingSchedule
from holdfast.render.objects.services import STANDBY
from holdfast.render.objects.workload import workload_reference
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Surroundings


def render_scaling(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[RenderedObject]:
    """Who owns the replicas, and disruption budgets where more than one runs.

    A range is a HorizontalPodAutoscaler; with schedules or idleness KEDA has one of its own.
    """
    rendered = []
    if spec.scaling.needs_keda:
        surroundings.require_all(marks.name, spec)
        target = workload_reference(marks, spec)
        rendered.append(render_scaled_object(marks, spec.scaling, target, surroundings))
    elif spec.scaling.is_automatic:
        rendered.append(RenderedObject(marks.name, "autoscaler", _autoscaler(marks, spec)))
    if spec.scaling.most_replicas > 1:
        rendered.append(_budget(marks, spec))
    if spec.availability.standby and spec.scaling.base_replicas > 1:
        rendered.append(_budget(marks.beside(STANDBY), spec, STANDBY))
    return rendered


def _budget(marks: AgentMarks, spec: AgentSpec, suffix: str = "") -> RenderedObject:
    budget: KubeObject = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": marks.metadata(suffix),
        "spec": {
            "maxUnavailable": spec.availability.pdb.max_unavailable,
            "selector": {"matchLabels": marks.selector()},
        },
    }
    role = f"disruptionbudget-{suffix}" if suffix else "disruptionbudget"
    return RenderedObject(marks.name, role, budget)


def _autoscaler(marks: AgentMarks, spec: AgentSpec) -> KubeObject:
    body: KubeObject = {
        "scaleTargetRef": workload_reference(marks, spec),
        "minReplicas": spec.scaling.min_replicas,
        "maxReplicas": spec.scaling.max_replicas,
        "metrics": [_metric(metric) for metric in spec.scaling.metrics],
    }
    if spec.scaling.behavior:
        body["behavior"] = behavior_of(spec.scaling.behavior)
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": marks.metadata(),
        "spec": body,
    }


def _metric(metric: ScalingMetric) -> KubeObject:
    average: KubeObject = {"type": "AverageValue", "averageValue": str(metric.target)}
    if metric.type == "Resource":
        if isinstance(metric.target, int):
            average = {"type": "Utilization", "averageUtilization": metric.target}
        return {"type": "Resource", "resource": {"name": metric.name, "target": average}}
    named: KubeObject = {"name": metric.name}
    if metric.selector:
        named["selector"] = {"matchLabels": dict(metric.selector)}
    return {"type": metric.type, metric.type.lower(): {"metric": named, "target": average}}


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


def behavior_of(behavior: ScalingBehavior) -> KubeObject:
    """The `behavior` of a HorizontalPodAutoscaler; what is not declared is left to its defaults."""
    rendered: KubeObject = behavior.model_dump(by_alias=True, exclude_none=True, mode="json")
    for rules in rendered.values():
        if not rules["policies"]:
            del rules["policies"]
    return rendered
