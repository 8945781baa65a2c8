"""What a new version passes through before all traffic is its own.

With a Deployment that is one Job before it. With Argo Rollouts it is a strategy with analyses: the
check, and the metrics of the new version's own pods. Where there are too few requests to judge, or
no answer from the source of metrics, the new version is not promoted.

Source: Argo Rollouts documentation, "BlueGreen", "Canary", "Analysis", "Traffic Management".
"""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.agent_types import SERVING
from holdfast.manifest.agent.rollout import RolloutStep
from holdfast.manifest.types.agent_label import AGENT_LABEL
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.objects.analysis import ANALYSIS, POD_HASH, render_analysis
from holdfast.render.objects.preflight import SUFFIX as CHECK
from holdfast.render.objects.preflight import check_job_spec, effective_check, render_check_job
from holdfast.render.objects.services import (
    CANARY,
    PREVIEW,
    is_routed,
    moved_service,
    second_service,
    service_ports,
)
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Surroundings
from holdfast.render.pod.pod import pod_template

SELECTOR = "spec.selector"
SCALE_DOWN_SECONDS = 60
"""Time for which the previous version is kept beyond its analysis, so that going back is quick."""


def has_promotion(spec: AgentSpec, surroundings: Surroundings) -> bool:
    """Whether a new version passes through anything but the workload's own update."""
    if spec.type not in SERVING:
        return False
    return spec.rollout.is_progressive or effective_check(spec, surroundings) is not None


def render_promotion(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings, config_hash: str
) -> list[RenderedObject]:
    """Check Job; or AnalysisTemplates, and the Service through which a new version is asked."""
    if not has_promotion(spec, surroundings):
        return []
    check = effective_check(spec, surroundings)
    rendered = []
    if check is not None:
        template = pod_template(marks, spec, surroundings, config_hash)
        job = check_job_spec(marks, spec, surroundings, template, check)
        if not spec.rollout.is_progressive:
            return [render_check_job(marks, job)]
        rendered.append(_check_template(marks, job))
    if spec.rollout.is_progressive:
        rendered += render_analysis(marks, spec, surroundings)
        if role := second_service(spec):
            rendered.append(_service(marks, spec, role))
    return rendered


def progressive_strategy(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> KubeObject:
    """The `strategy` of a Rollout."""
    has_check = effective_check(spec, surroundings) is not None
    if spec.rollout.strategy == "BlueGreen":
        return {"blueGreen": _blue_green(marks, spec, has_check=has_check)}
    return {"canary": _canary(marks, spec, has_check=has_check)}


def _blue_green(marks: AgentMarks, spec: AgentSpec, *, has_check: bool) -> KubeObject:
    analysis = spec.rollout.analysis
    window = analysis.window_seconds if analysis else 0
    strategy: KubeObject = {
        "activeService": marks.name,
        "previewService": f"{marks.name}-{PREVIEW}",
        "autoPromotionEnabled": True,
        "scaleDownDelaySeconds": window + SCALE_DOWN_SECONDS,
    }
    if has_check:
        strategy["prePromotionAnalysis"] = _templates(marks, CHECK)
    if analysis:
        # A new version has no requests of its own before it is promoted.
        strategy["postPromotionAnalysis"] = _templates(marks, ANALYSIS)
    return strategy


def _canary(marks: AgentMarks, spec: AgentSpec, *, has_check: bool) -> KubeObject:
    strategy: KubeObject = {
        "maxSurge": spec.rollout.max_surge,
        "maxUnavailable": spec.rollout.max_unavailable,
        "steps": _canary_steps(marks, spec, has_check=has_check),
    }
    if is_routed(spec):
        strategy |= {
            "canaryService": f"{marks.name}-{CANARY}",
            "stableService": marks.name,
            "trafficRouting": {
                "plugins": {
                    "argoproj-labs/gatewayAPI": {
                        "httpRoute": marks.name,
                        "namespace": marks.namespace,
                    }
                }
            },
        }
    return strategy


def _canary_steps(marks: AgentMarks, spec: AgentSpec, *, has_check: bool) -> list[KubeObject]:
    """The declared steps; the check before the first, the metrics after each pause."""
    steps: list[KubeObject] = [{"analysis": _templates(marks, CHECK)}] if has_check else []
    for index, step in enumerate(spec.rollout.steps):
        if step.set_weight is not None:
            steps.append({"setWeight": step.set_weight})
            continue
        steps.append({"pause": {"duration": f"{_seconds(step)}s"}})
        later = spec.rollout.steps[index + 1 : index + 2]
        if spec.rollout.analysis and not any(each.pause for each in later):
            steps.append({"analysis": _templates(marks, ANALYSIS)})
    return steps


def _service(marks: AgentMarks, spec: AgentSpec, role: str) -> RenderedObject:
    ready = {"pulumi.com/waitFor": "jsonpath={.spec.clusterIP}"} | moved_service(marks, spec)
    body = {"type": "ClusterIP", "selector": marks.selector(), "ports": service_ports(spec)}
    manifest: KubeObject = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": marks.metadata(role, annotations=ready),
        "spec": body,
    }
    return RenderedObject(marks.name, f"service-{role}", manifest, left_to_controllers=(SELECTOR,))


def _check_template(marks: AgentMarks, job: KubeObject) -> RenderedObject:
    metadata = {"labels": marks.beside(CHECK).object_labels()}
    metric = {"name": CHECK, "provider": {"job": {"metadata": metadata, "spec": job}}}
    manifest: KubeObject = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AnalysisTemplate",
        "metadata": marks.metadata(CHECK),
        "spec": {"metrics": [metric]},
    }
    return RenderedObject(marks.name, f"analysis-{CHECK}", manifest)


def _templates(marks: AgentMarks, role: str) -> KubeObject:
    templates: KubeObject = {
        # Written out: Argo Rollouts writes the whole list of steps back with this field in it.
        "analysisRunMetadata": {"labels": {AGENT_LABEL: marks.name}},
        "templates": [{"templateName": f"{marks.name}-{role}"}],
    }
    if role == ANALYSIS:
        latest = {"podTemplateHashValue": "Latest"}
        templates["args"] = [{"name": POD_HASH, "valueFrom": latest}]
    return templates


def _seconds(step: RolloutStep) -> int:
    assert step.pause is not None  # noqa: S101 - a step without weight is a pause
    return max(duration_milliseconds(step.pause.duration) // 1000, 1)
