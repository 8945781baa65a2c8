"""An agent of type Job: one CronJob a schedule."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent import AgentSpec
from holdfast.manifest.agent_checks import INPUT_VARIABLE
from holdfast.manifest.schedule import Schedule, schedule_names
from holdfast.manifest.text_checks import duration_milliseconds
from holdfast.render.marks import AgentMarks, RenderedObject
from holdfast.render.pod import pod_template
from holdfast.render.surroundings import Surroundings


def render_schedules(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings, config_hash: str
) -> list[RenderedObject]:
    """One CronJob a schedule; its runs differ in nothing but their time and their input."""
    template = pod_template(marks, spec, surroundings, config_hash)
    template["spec"]["restartPolicy"] = "Never"
    names = schedule_names(marks.name, spec.schedules)
    return [
        RenderedObject(
            marks.name,
            f"schedule-{name.removeprefix(f'{marks.name}-')}",
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": marks.metadata(name.removeprefix(f"{marks.name}-")),
                "spec": _schedule(marks, spec, schedule, template),
            },
        )
        for name, schedule in zip(names, spec.schedules, strict=True)
    ]


def _schedule(
    marks: AgentMarks, spec: AgentSpec, schedule: Schedule, template: KubeObject
) -> KubeObject:
    job: KubeObject = {
        "activeDeadlineSeconds": -(-duration_milliseconds(spec.budget.timeout) // 1000),
        "backoffLimit": schedule.retries,
        "template": _with_input(template, schedule.input),
        "ttlSecondsAfterFinished": schedule.ttl_seconds_after_finished,
    }
    return {
        "schedule": schedule.cron,
        "timeZone": schedule.timezone,
        "concurrencyPolicy": schedule.concurrency_policy,
        "successfulJobsHistoryLimit": schedule.history_limit,
        "failedJobsHistoryLimit": schedule.history_limit,
        "suspend": schedule.suspend,
        "jobTemplate": {"metadata": {"labels": marks.workload_labels()}, "spec": job},
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
