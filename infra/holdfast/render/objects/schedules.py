"""An agent of type Job: one CronJob a schedule, one ScaledJob a trigger.

Source: KEDA documentation 2.17, "ScaledJob specification".
"""

from typing import Final

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.agent_checks import INPUT_VARIABLE
from holdfast.manifest.agent.schedule import Run, Schedule, Trigger, run_names
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.objects.scaling import prometheus_trigger
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.pod import pod_template
from holdfast.render.pod.settings import Configuration


def render_runs(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, configuration: Configuration
) -> list[RenderedObject]:
    """What starts runs; they differ in nothing but what starts them and their input."""
    template = pod_template(meta, spec, context, configuration)
    template["spec"]["restartPolicy"] = "Never"
    address = context.environment.telemetry.prometheus_url or ""
    rendered = []
    for field, name, index in run_names(meta.name, spec.job.schedules, spec.job.triggers):
        suffix = name.removeprefix(f"{meta.name}-")
        if field == "schedules":
            manifest = _cron_job(meta, suffix, spec, spec.job.schedules[index], template)
            rendered.append(RenderedObject(meta.name, f"schedule-{suffix}", manifest))
        else:
            manifest = _scaled_job(meta, suffix, spec, spec.job.triggers[index], template, address)
            role = f"trigger-{suffix.removeprefix('trigger-')}"
            rendered.append(RenderedObject(meta.name, role, manifest))
    return rendered


def _cron_job(
    meta: AgentMetadata, suffix: str, spec: AgentSpec, schedule: Schedule, template: KubeObject
) -> KubeObject:
    job = _job(spec, schedule, template)
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": meta.metadata(suffix),
        "spec": {
            "schedule": schedule.cron,
            "timeZone": schedule.timezone,
            "concurrencyPolicy": schedule.concurrency_policy,
            "successfulJobsHistoryLimit": schedule.history_limit,
            "failedJobsHistoryLimit": schedule.history_limit,
            "startingDeadlineSeconds": schedule.starting_deadline_seconds,
            "suspend": schedule.suspend,
            "jobTemplate": {"metadata": {"labels": meta.workload_labels()}, "spec": job},
        },
    }


def _scaled_job(
    meta: AgentMetadata,
    suffix: str,
    spec: AgentSpec,
    trigger: Trigger,
    template: KubeObject,
    address: str,
) -> KubeObject:
    # KEDA reads an annotation where a CronJob has a field.
    paused = {"autoscaling.keda.sh/paused": "true"} if trigger.suspend else {}
    matchers = [f'{name}="{value}"' for name, value in sorted(trigger.selector.items())]
    series = f"{trigger.metric}{{{','.join(matchers)}}}"
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledJob",
        "metadata": meta.metadata(suffix, annotations=paused),
        "spec": {
            "jobTargetRef": _job(spec, trigger, template),
            "maxReplicaCount": trigger.max_runs,
            "pollingInterval": trigger.polling_seconds,
            "successfulJobsHistoryLimit": trigger.history_limit,
            "failedJobsHistoryLimit": trigger.history_limit,
            # A run that has begun goes on when the declaration changes.
            "rollout": {"strategy": "gradual"},
            "triggers": [prometheus_trigger(address, f"sum({series})", trigger.per_run)],
        },
    }


START_SECONDS: Final = 600
"""Time on top of each try's own: to be scheduled, to pull images, and the pause before a retry."""


def _job(spec: AgentSpec, run: Run, template: KubeObject) -> KubeObject:
    """Each try has the whole time of a run; one that a drained node ends is no failure."""
    longest = -(-duration_milliseconds(spec.budget.timeout) // 1000)
    disrupted = {"type": "DisruptionTarget", "status": "True"}
    return {
        "activeDeadlineSeconds": (run.retries + 1) * (longest + START_SECONDS),
        "backoffLimit": run.retries,
        "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [disrupted]}]},
        "podReplacementPolicy": "Failed",
        "template": _with_deadline(_with_input(template, run.input), longest),
        "ttlSecondsAfterFinished": run.ttl_seconds_after_finished,
    }


def _with_deadline(template: KubeObject, seconds: int) -> KubeObject:
    return template | {"spec": template["spec"] | {"activeDeadlineSeconds": seconds}}


def _with_input(template: KubeObject, text: str | None) -> KubeObject:
    if text is None:
        return template
    # Kubernetes expands $(NAME) in values, and reads $$ as one $.
    variable = {"name": INPUT_VARIABLE, "value": text.replace("$", "$$")}
    agent, *others = template["spec"]["containers"]
    env = sorted([*agent["env"], variable], key=lambda entry: str(entry["name"]))
    return template | {
        "spec": template["spec"] | {"containers": [agent | {"env": env}, *others]},
    }
