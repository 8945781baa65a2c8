"""An agent of type Job: one CronJob a schedule, one ScaledJob a trigger.

Source: KEDA documentation 2.17, "ScaledJob specification".
"""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.agent_checks import INPUT_VARIABLE
from holdfast.manifest.agent.schedule import Run, Schedule, Trigger, run_names
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.objects.scaling import prometheus_trigger
from holdfast.render.plan.marks import AgentMarks, RenderedObject
from holdfast.render.plan.surroundings import Surroundings
from holdfast.render.pod.pod import pod_template


def render_runs(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings, config_hash: str
) -> list[RenderedObject]:
    """What starts runs; they differ in nothing but what starts them and their input."""
    template = pod_template(marks, spec, surroundings, config_hash)
    template["spec"]["restartPolicy"] = "Never"
    address = surroundings.environment.telemetry.prometheus_url or ""
    rendered = []
    for field, name, index in run_names(marks.name, spec.schedules, spec.triggers):
        suffix = name.removeprefix(f"{marks.name}-")
        if field == "schedules":
            manifest = _cron_job(marks, suffix, spec, spec.schedules[index], template)
            rendered.append(RenderedObject(marks.name, f"schedule-{suffix}", manifest))
        else:
            manifest = _scaled_job(marks, suffix, spec, spec.triggers[index], template, address)
            role = f"trigger-{suffix.removeprefix('trigger-')}"
            rendered.append(RenderedObject(marks.name, role, manifest))
    return rendered


def _cron_job(
    marks: AgentMarks, suffix: str, spec: AgentSpec, schedule: Schedule, template: KubeObject
) -> KubeObject:
    job = _job(spec, schedule, template)
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": marks.metadata(suffix),
        "spec": {
            "schedule": schedule.cron,
            "timeZone": schedule.timezone,
            "concurrencyPolicy": schedule.concurrency_policy,
            "successfulJobsHistoryLimit": schedule.history_limit,
            "failedJobsHistoryLimit": schedule.history_limit,
            "suspend": schedule.suspend,
            "jobTemplate": {"metadata": {"labels": marks.workload_labels()}, "spec": job},
        },
    }


def _scaled_job(
    marks: AgentMarks,
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
        "metadata": marks.metadata(suffix, annotations=paused),
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


def _job(spec: AgentSpec, run: Run, template: KubeObject) -> KubeObject:
    return {
        "activeDeadlineSeconds": -(-duration_milliseconds(spec.budget.timeout) // 1000),
        "backoffLimit": run.retries,
        "template": _with_input(template, run.input),
        "ttlSecondsAfterFinished": run.ttl_seconds_after_finished,
    }


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
