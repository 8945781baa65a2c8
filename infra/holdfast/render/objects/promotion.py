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
from holdfast.manifest.types.marks import AGENT_LABEL
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
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject, with_revision
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.pod import pod_template
from holdfast.render.pod.settings import Configuration

SELECTOR = "spec.selector"
SCALE_DOWN_SECONDS = 60
"""Time for which the previous version is kept beyond its analysis, so that going back is quick."""


def has_promotion(spec: AgentSpec, context: RenderContext) -> bool:
    """Whether a new version passes through anything but the workload's own update."""
    if spec.type not in SERVING:
        return False
    return spec.rollout.is_progressive or effective_check(spec, context) is not None


def render_promotion(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> list[RenderedObject]:
    """Check Job; or AnalysisTemplates, and the Service through which a new version is asked."""
    if not has_promotion(spec, context):
        return []
    check = effective_check(spec, context)
    rendered = []
    if check is not None:
        template = pod_template(meta, spec, context, configuration)
        job = check_job_spec(meta, spec, context, template, check)
        if not spec.rollout.is_progressive:
            return [render_check_job(meta, job)]
        rendered.append(_check_template(meta, job))
    if spec.rollout.is_progressive:
        rendered += render_analysis(meta, spec, context)
        if role := second_service(spec):
            rendered.append(_service(meta, spec, role))
    return rendered


def progressive_strategy(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> KubeObject:
    """The `strategy` of a Rollout."""
    has_check = effective_check(spec, context) is not None
    if spec.rollout.strategy == "BlueGreen":
        return {"blueGreen": _blue_green(meta, spec, has_check=has_check)}
    return {"canary": _canary(meta, spec, has_check=has_check)}


def _blue_green(meta: AgentMetadata, spec: AgentSpec, *, has_check: bool) -> KubeObject:
    analysis = spec.rollout.analysis
    window = analysis.window_seconds if analysis else 0
    strategy: KubeObject = {
        "activeService": meta.name,
        "previewService": f"{meta.name}-{PREVIEW}",
        "autoPromotionEnabled": True,
        "scaleDownDelaySeconds": window + SCALE_DOWN_SECONDS,
    }
    if has_check:
        strategy["prePromotionAnalysis"] = _templates(meta, CHECK)
    if analysis:
        # A new version has no requests of its own before it is promoted.
        strategy["postPromotionAnalysis"] = _templates(meta, ANALYSIS)
    return strategy


def _canary(meta: AgentMetadata, spec: AgentSpec, *, has_check: bool) -> KubeObject:
    strategy: KubeObject = {
        "maxSurge": spec.rollout.max_surge,
        "maxUnavailable": spec.rollout.max_unavailable,
        "steps": _canary_steps(meta, spec, has_check=has_check),
    }
    if is_routed(spec):
        strategy |= {
            "canaryService": f"{meta.name}-{CANARY}",
            "stableService": meta.name,
            "trafficRouting": {
                "plugins": {
                    "argoproj-labs/gatewayAPI": {
                        "httpRoute": meta.name,
                        "namespace": meta.namespace,
                    }
                }
            },
        }
    return strategy


def _canary_steps(meta: AgentMetadata, spec: AgentSpec, *, has_check: bool) -> list[KubeObject]:
    """The declared steps; the check before the first, the metrics after each pause."""
    steps: list[KubeObject] = [{"analysis": _templates(meta, CHECK)}] if has_check else []
    for index, step in enumerate(spec.rollout.steps):
        if step.set_weight is not None:
            steps.append({"setWeight": step.set_weight})
            continue
        steps.append({"pause": {"duration": f"{_seconds(step)}s"}})
        later = spec.rollout.steps[index + 1 : index + 2]
        if spec.rollout.analysis and not any(each.pause for each in later):
            steps.append({"analysis": _templates(meta, ANALYSIS)})
    return steps


def _service(meta: AgentMetadata, spec: AgentSpec, role: str) -> RenderedObject:
    ready = {"pulumi.com/waitFor": "jsonpath={.spec.clusterIP}"} | moved_service(meta, spec)
    body = {"type": "ClusterIP", "selector": meta.selector(), "ports": service_ports(spec)}
    manifest: KubeObject = {
        "apiVersion": "v1",
        "kind": "Service",
        # A name of its own: what looks for the agent's Service must not find each pod twice.
        "metadata": meta.beside(role).metadata(role, annotations=ready),
        "spec": body,
    }
    return RenderedObject(meta.name, f"service-{role}", manifest, left_to_controllers=(SELECTOR,))


def _check_template(meta: AgentMetadata, job: KubeObject) -> RenderedObject:
    # Argo Rollouts copies both: rules in the cluster judge the Job as they would ours.
    made = meta.beside(CHECK).metadata(CHECK)
    copied = {name: made[name] for name in ("labels", "annotations")}
    metadata = with_revision({"metadata": copied, "spec": job})["metadata"]
    metric = {"name": CHECK, "provider": {"job": {"metadata": metadata, "spec": job}}}
    manifest: KubeObject = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AnalysisTemplate",
        "metadata": meta.metadata(CHECK),
        "spec": {"metrics": [metric]},
    }
    return RenderedObject(meta.name, f"analysis-{CHECK}", manifest)


def _templates(meta: AgentMetadata, role: str) -> KubeObject:
    templates: KubeObject = {
        # Written out: Argo Rollouts writes the whole list of steps back with this field in it.
        "analysisRunMetadata": {"labels": {AGENT_LABEL: meta.name}},
        "templates": [{"templateName": f"{meta.name}-{role}"}],
    }
    if role == ANALYSIS:
        latest = {"podTemplateHashValue": "Latest"}
        templates["args"] = [{"name": POD_HASH, "valueFrom": latest}]
    return templates


def _seconds(step: RolloutStep) -> int:
    assert step.pause is not None  # noqa: S101 - a step without weight is a pause
    return max(duration_milliseconds(step.pause.duration) // 1000, 1)
