"""How many replicas run, and how many may be missing at once."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.exposure import Availability, Scaling, ScalingMetric
from holdfast.render.marks import AgentMarks, RenderedObject


def render_scaling(
    marks: AgentMarks, scaling: Scaling, availability: Availability
) -> list[RenderedObject]:
    """HorizontalPodAutoscaler for a range; PodDisruptionBudget when more than one replica runs."""
    rendered = []
    if scaling.is_automatic:
        rendered.append(RenderedObject(marks.name, "autoscaler", _autoscaler(marks, scaling)))
    if scaling.most_replicas > 1:
        budget: KubeObject = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": marks.metadata(),
            "spec": {
                "maxUnavailable": availability.pdb.max_unavailable,
                "selector": {"matchLabels": marks.selector()},
            },
        }
        rendered.append(RenderedObject(marks.name, "disruptionbudget", budget))
    return rendered


def _autoscaler(marks: AgentMarks, scaling: Scaling) -> KubeObject:
    spec: KubeObject = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": marks.name},
        "minReplicas": scaling.min_replicas,
        "maxReplicas": scaling.max_replicas,
        "metrics": [_metric(metric) for metric in scaling.metrics],
    }
    if scaling.behavior:
        spec["behavior"] = scaling.behavior
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": marks.metadata(),
        "spec": spec,
    }


def _metric(metric: ScalingMetric) -> KubeObject:
    if metric.type == "Resource":
        target: KubeObject = {"type": "Utilization", "averageUtilization": metric.target}
        return {"type": "Resource", "resource": {"name": metric.name, "target": target}}
    target = {"type": "AverageValue", "averageValue": str(metric.target)}
    source = {"metric": {"name": metric.name}, "target": target}
    return {"type": metric.type, metric.type.lower(): source}
