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
from holdfast.manifest.agent.workload_checks import AGENT_CONTAINER
from holdfast.render.objects.services import STANDBY
from holdfast.render.objects.workload import workload_reference
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import RenderContext


def render_scaling(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[RenderedObject]:
    """Who owns the replicas, and disruption budgets where more than one runs.

    A range is a HorizontalPodAutoscaler; with schedules or idleness KEDA has one of its own.
    """
    rendered = []
    if spec.scaling.needs_keda:
        context.require_all(meta.name, spec)
    sides = [(meta, "")]
    if spec.scaling.availability.standby:
        # Each of the two has an autoscaler of its own, so that who serves after a fail-over scales.
        sides.append((meta.beside(STANDBY), STANDBY))
    for side, suffix in sides:
        target = workload_reference(side, spec)
        if spec.scaling.needs_keda:
            rendered.append(render_scaled_object(side, spec.scaling, target, context, suffix))
        elif spec.scaling.is_automatic:
            autoscaler = _autoscaler(side, spec, target, suffix)
            rendered.append(RenderedObject(meta.name, _role("autoscaler", suffix), autoscaler))
        if spec.scaling.most_replicas > 1:
            rendered.append(_budget(side, spec, suffix))
    return rendered


def _role(name: str, suffix: str) -> str:
    return f"{name}-{suffix}" if suffix else name


def _budget(meta: AgentMetadata, spec: AgentSpec, suffix: str = "") -> RenderedObject:
    budget: KubeObject = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta.metadata(suffix),
        "spec": {
            "maxUnavailable": spec.scaling.availability.pdb.max_unavailable,
            "selector": {"matchLabels": meta.selector()},
            # Pods that are not ready serve nobody, and must not keep a node from being drained.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
    return RenderedObject(meta.name, _role("disruptionbudget", suffix), budget)


def _autoscaler(
    meta: AgentMetadata, spec: AgentSpec, target: KubeObject, suffix: str = ""
) -> KubeObject:
    body: KubeObject = {
        "scaleTargetRef": target,
        "minReplicas": spec.scaling.min_replicas,
        "maxReplicas": spec.scaling.max_replicas,
        "metrics": [_metric(metric) for metric in spec.scaling.metrics],
    }
    if spec.scaling.behavior:
        body["behavior"] = behavior_of(spec.scaling.behavior)
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": meta.metadata(suffix),
        "spec": body,
    }


def _metric(metric: ScalingMetric) -> KubeObject:
    average: KubeObject = {"type": "AverageValue", "averageValue": str(metric.target)}
    if metric.is_by_use:
        if isinstance(metric.target, int):
            average = {"type": "Utilization", "averageUtilization": metric.target}
        used: KubeObject = {"name": metric.name, "target": average}
        if metric.type == "Resource":
            return {"type": "Resource", "resource": used}
        of = {"container": metric.container or AGENT_CONTAINER}
        return {"type": "ContainerResource", "containerResource": used | of}
    named: KubeObject = {"name": metric.name}
    if metric.selector:
        named["selector"] = {"matchLabels": dict(metric.selector)}
    return {"type": metric.type, metric.type.lower(): {"metric": named, "target": average}}


POLLING_SECONDS = 30
DEFAULT_COOLDOWN_SECONDS = 300


FALLBACK_FAILURES = 3
"""Failed requests to Prometheus in a row until replicas no longer wait for its answer."""


def render_scaled_object(
    meta: AgentMetadata,
    scaling: Scaling,
    target: KubeObject,
    context: RenderContext,
    suffix: str = "",
) -> RenderedObject:
    """ScaledObject of an agent that runs by schedule or sleeps when idle.

    Args:
        meta: The agent's marks.
        scaling: Its range, schedules and idleness.
        target: The workload, as autoscalers refer to it.
        context: Where Prometheus is.
        suffix: Of the standby, which does not sleep: it stands by.
    """
    address = context.environment.telemetry.prometheus_url or ""
    body: KubeObject = {
        "scaleTargetRef": target,
        "cooldownPeriod": scaling.idle_seconds or DEFAULT_COOLDOWN_SECONDS,
        "maxReplicaCount": scaling.most_replicas,
        "minReplicaCount": scaling.base_replicas,
        "pollingInterval": POLLING_SECONDS,
        "triggers": [
            *(_metric_trigger(meta, metric, address) for metric in scaling.metrics),
            *(_cron_trigger(schedule) for schedule in scaling.schedules),
        ],
    }
    if scaling.idle_seconds is not None and not suffix:
        body["idleReplicaCount"] = 0
    if any(not metric.is_by_use for metric in scaling.metrics):
        body["fallback"] = {
            "behavior": "currentReplicasIfHigher",
            "failureThreshold": FALLBACK_FAILURES,
            "replicas": max(scaling.base_replicas, 1),
        }
    if scaling.behavior:
        autoscaler = {"behavior": behavior_of(scaling.behavior)}
        body["advanced"] = {"horizontalPodAutoscalerConfig": autoscaler}
    metadata = meta.metadata(suffix)
    # KEDA writes this label itself.
    labels = metadata["labels"] | {"scaledobject.keda.sh/name": metadata["name"]}
    manifest: KubeObject = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": metadata | {"labels": labels},
        "spec": body,
    }
    return RenderedObject(meta.name, _role("scaledobject", suffix), manifest)


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


def _metric_trigger(meta: AgentMetadata, metric: ScalingMetric, address: str) -> KubeObject:
    if metric.is_by_use:
        kind = "Utilization" if isinstance(metric.target, int) else "AverageValue"
        value = {"value": str(metric.target)}
        if metric.type == "ContainerResource":
            value["containerName"] = metric.container or AGENT_CONTAINER
        return {"type": metric.name, "metricType": kind, "metadata": value}
    matchers = [f'{name}="{value}"' for name, value in sorted(metric.selector.items())]
    if metric.type == "Pods":
        matchers = [f'namespace="{meta.namespace}"', f'pod=~"{_pods_of(meta)}"', *matchers]
    query = f"sum({metric.name}{{{','.join(matchers)}}})"
    return prometheus_trigger(address, query, metric.target) | {"metricType": "AverageValue"}


def _pods_of(meta: AgentMetadata) -> str:
    """Expression of the names of pods of the agent's ReplicaSets.

    Neither those of an agent whose name begins alike nor those of Jobs beside it match: hashes
    have no vowels. The API server cuts long names in the hash, and the hyphen goes with it.
    """
    letters = "[bcdfghjklmnpqrstvwxz2456789]"
    return f"{meta.workload_name}-{letters}{{1,10}}-?{letters}{{5}}"


def prometheus_trigger(address: str, query: str, target: int | str) -> KubeObject:
    """KEDA's scaler for a value that Prometheus knows; as runs take it, which have no metricType.

    Args:
        address: Of Prometheus.
        query: PromQL of the value.
        target: How much of it is for one replica, or run.
    """
    threshold = f"{float(parse_quantity(target)):g}"
    parts = {"serverAddress": address, "query": query, "threshold": threshold}
    return {"type": "prometheus", "metadata": parts}


def behavior_of(behavior: ScalingBehavior) -> KubeObject:
    """The `behavior` of a HorizontalPodAutoscaler; what is not declared is left to its defaults."""
    rendered: KubeObject = behavior.model_dump(by_alias=True, exclude_none=True, mode="json")
    for rules in rendered.values():
        if not rules["policies"]:
            del rules["policies"]
    return rendered
