"""How many replicas run, and how many may be missing at once."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.scaling import ScalingMetric
from holdfast.render.objects.behavior import behavior_of
from holdfast.render.objects.scaled_object import render_scaled_object
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
