"""What runs a serving agent: a Deployment, or a Rollout where two versions run side by side."""

import json
from datetime import UTC, datetime
from typing import Final

from holdfast.kube.objects import KubeObject
from holdfast.kube.scalars import format_utc
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.objects.promotion import progressive_strategy
from holdfast.render.objects.services import STANDBY
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject, content_hash
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.pod import pod_template
from holdfast.render.pod.settings import Configuration

HISTORY = 10
PAST_SECONDS: Final = 1_500_000_000
"""Length of the past, from 1970, in which versions have their moments."""
ROLLOUT_SLACK_SECONDS = 300
"""Time that Argo Rollouts needs between the steps of a rollout, on top of pauses and windows."""


def workload_reference(meta: AgentMetadata, spec: AgentSpec) -> KubeObject:
    """The workload as autoscalers refer to it."""
    if spec.rollout.is_progressive:
        return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": meta.name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": meta.workload_name}


def render_workload(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> list[RenderedObject]:
    """Deployment, with a second one as standby if declared; or Rollout.

    The pods roll when `configuration` changes. An autoscaler owns the number of replicas: with one,
    none is rendered.
    """
    template = pod_template(meta, spec, context, configuration)
    if spec.rollout.is_progressive:
        return [_rollout(meta, spec, context, template)]
    rendered = [_deployment(meta, spec, template)]
    if spec.scaling.availability.standby:
        beside = meta.beside(STANDBY)
        template = pod_template(beside, spec, context, configuration)
        rendered.append(_deployment(beside, spec, template, STANDBY))
    return rendered


def _deployment(
    meta: AgentMetadata, spec: AgentSpec, template: KubeObject, suffix: str = ""
) -> RenderedObject:
    body: KubeObject = {
        "progressDeadlineSeconds": spec.progress_deadline_seconds,
        "revisionHistoryLimit": HISTORY,
        "selector": {"matchLabels": meta.selector()},
        "strategy": _strategy(spec),
        "template": template,
    }
    if not spec.scaling.is_automatic:
        body["replicas"] = spec.scaling.most_replicas
    deadline = {"pulumi.com/timeoutSeconds": str(spec.progress_deadline_seconds)}
    metadata = meta.metadata(suffix, annotations=deadline)
    manifest: KubeObject = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata | {"labels": metadata["labels"] | meta.workload_labels()},
        "spec": body,
    }
    role = f"deployment-{suffix}" if suffix else "deployment"
    return RenderedObject(meta.name, role, manifest)


def _rollout(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, template: KubeObject
) -> RenderedObject:
    body: KubeObject = {
        "progressDeadlineAbort": spec.rollout.auto_rollback,
        "progressDeadlineSeconds": spec.progress_deadline_seconds,
        "revisionHistoryLimit": HISTORY,
        "selector": {"matchLabels": meta.selector()},
        "strategy": progressive_strategy(meta, spec, context),
        "template": template,
    }
    if not spec.scaling.is_automatic:
        body["replicas"] = spec.scaling.most_replicas
    body["restartAt"] = moment = _moment_of(body)
    healthy = ["{.status.restartedAt}=" + moment, "{.status.phase}=Healthy"]
    annotations = {
        "pulumi.com/waitFor": json.dumps([f"jsonpath={each}" for each in healthy]),
        "pulumi.com/timeoutSeconds": str(_rollout_seconds(spec)),
        # Argo Rollouts writes the whole object back in its own spelling, and then owns it.
        "pulumi.com/patchForce": "true",
    }
    metadata = meta.metadata(annotations=annotations)
    manifest: KubeObject = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Rollout",
        "metadata": metadata | {"labels": metadata["labels"] | meta.workload_labels()},
        "spec": body,
    }
    return RenderedObject(meta.name, "rollout", manifest)


def _moment_of(body: KubeObject) -> str:
    """A moment long ago that stands for this version of a Rollout.

    Argo Rollouts repeats it in `status.restartedAt` when it has seen the version, and restarts no
    pod for it: none is that old. Without it, the status of the previous version would be taken
    for that of the new one, and an update would be done before it has begun.
    """
    seconds = int(content_hash(body, digits=8), 16) % PAST_SECONDS
    return format_utc(datetime.fromtimestamp(seconds, UTC))


def _rollout_seconds(spec: AgentSpec) -> int:
    window = spec.rollout.analysis.window_seconds if spec.rollout.analysis else 0
    return (
        spec.progress_deadline_seconds + spec.rollout.pause_seconds + window + ROLLOUT_SLACK_SECONDS
    )


def _strategy(spec: AgentSpec) -> KubeObject:
    if spec.storage.is_single_writer or spec.rollout.strategy == "Recreate":
        # Two pods cannot hold a single-writer claim, not even during an update.
        return {"type": "Recreate"}
    surge = {"maxSurge": spec.rollout.max_surge, "maxUnavailable": spec.rollout.max_unavailable}
    return {"type": "RollingUpdate", "rollingUpdate": surge}
