"""An agent of type Job is a CronJob a schedule, and nothing that waits to be called."""

from typing import Any

from holdfast.kube.objects import KubeObject

from tests.unit.render.connected_agent import only, render
from tests.unit.render.workloads import render as render_on_stack

NIGHTLY = {"cron": "0 2 * * *"}


def job(schedule: dict[str, Any] | None = None, **spec: Any) -> KubeObject:
    rendered = render({"type": "Job", "job": {"schedules": [schedule or NIGHTLY]}, **spec})
    body: KubeObject = only(rendered, "CronJob")["spec"]
    return body


def pod(body: KubeObject) -> KubeObject:
    found: KubeObject = body["jobTemplate"]["spec"]["template"]["spec"]
    return found


def variables(body: KubeObject) -> dict[str, Any]:
    return {entry["name"]: entry.get("value") for entry in pod(body)["containers"][0]["env"]}


def test_a_job_has_no_service_no_port_and_no_probe() -> None:
    rendered = render({"type": "Job", "job": {"schedules": [NIGHTLY]}})
    assert [item.role for item in rendered] == [
        "serviceaccount",
        "config",
        "networkpolicy",
        "schedule-0",
    ]
    container = pod(only(rendered, "CronJob")["spec"])["containers"][0]
    for absent in ("ports", "livenessProbe", "readinessProbe", "lifecycle"):
        assert absent not in container
    policy = only(rendered, "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in policy


def test_every_schedule_is_a_cronjob_named_by_its_id_or_its_position() -> None:
    rendered = render({"type": "Job", "job": {"schedules": [NIGHTLY, {"id": "weekly", **NIGHTLY}]}})
    jobs = [item.manifest for item in rendered if item.manifest["kind"] == "CronJob"]
    assert [one["metadata"]["name"] for one in jobs] == ["support-0", "support-weekly"]


def test_the_controller_is_reported_every_setting_defaults_included() -> None:
    body = job()
    assert body | {"jobTemplate": None} == {
        "schedule": "0 2 * * *",
        "timeZone": "UTC",
        "concurrencyPolicy": "Forbid",
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 3,
        "startingDeadlineSeconds": 3600,
        "suspend": False,
        "jobTemplate": None,
    }
    assert body["jobTemplate"]["spec"]["backoffLimit"] == 0
    assert body["jobTemplate"]["spec"]["ttlSecondsAfterFinished"] == 604_800
    assert pod(body)["restartPolicy"] == "Never"


def test_every_try_of_a_run_has_its_whole_time() -> None:
    run = job({"cron": "0 2 * * *", "retries": 3}, budget={"timeout": "10m"})["jobTemplate"]["spec"]
    assert run["template"]["spec"]["activeDeadlineSeconds"] == 600
    # Four slow tries fit, with the pauses between them, which grow to six minutes.
    assert run["activeDeadlineSeconds"] >= 4 * 600 + 10 + 20 + 40


def test_a_drained_node_is_no_failure_of_a_run() -> None:
    run = job()["jobTemplate"]["spec"]
    assert run["backoffLimit"] == 0
    [rule] = run["podFailurePolicy"]["rules"]
    assert rule == {
        "action": "Ignore",
        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
    }


TRIGGERED = {
    "type": "Job",
    "job": {
        "triggers": [
            {
                "metric": "queue_depth",
                "selector": {"queue": "orders"},
                "perRun": 5,
                "maxRuns": 8,
                "pollingSeconds": 60,
                "input": "Work on what waits",
                "retries": 1,
                "suspend": True,
            },
            {"id": "late", "metric": "late"},
        ]
    },
    "budget": {"timeout": "90s"},
}
OFFERED = {
    "controllers": ["keda"],
    "telemetry": {"prometheusUrl": "http://prometheus.monitoring.svc:9090"},
}


def test_waiting_work_is_a_scaledjob_named_by_its_id_or_its_position() -> None:
    rendered = render_on_stack(TRIGGERED, OFFERED)
    jobs = {
        role: item.manifest
        for role, item in rendered.items()
        if item.manifest["kind"] == "ScaledJob"
    }
    assert set(jobs) == {"trigger-0", "trigger-late"}
    first = jobs["trigger-0"]
    assert first["metadata"]["name"] == "support-trigger-0"
    assert first["metadata"]["annotations"]["autoscaling.keda.sh/paused"] == "true"
    assert "autoscaling.keda.sh/paused" not in jobs["trigger-late"]["metadata"]["annotations"]
    body = first["spec"]
    assert (body["maxReplicaCount"], body["pollingInterval"]) == (8, 60)
    assert body["rollout"] == {"strategy": "gradual"}
    assert body["triggers"] == [
        {
            "type": "prometheus",
            "metadata": {
                "serverAddress": "http://prometheus.monitoring.svc:9090",
                "query": 'sum(queue_depth{queue="orders"})',
                "threshold": "5",
            },
        }
    ]
    target = body["jobTargetRef"]
    pod_spec = target["template"]["spec"]
    assert (pod_spec["activeDeadlineSeconds"], target["backoffLimit"]) == (90, 1)
    assert pod_spec["restartPolicy"] == "Never"
    env = {each["name"]: each.get("value") for each in pod_spec["containers"][0]["env"]}
    assert env["AGENT_INPUT"] == "Work on what waits"


def test_what_a_schedule_says_is_what_the_controller_reads() -> None:
    body = job(
        {
            "cron": "*/5 * * * *",
            "timezone": "Europe/London",
            "concurrencyPolicy": "Replace",
            "historyLimit": 7,
            "suspend": True,
            "retries": 2,
            "ttlSecondsAfterFinished": 3600,
        }
    )
    assert (body["schedule"], body["timeZone"]) == ("*/5 * * * *", "Europe/London")
    assert (body["concurrencyPolicy"], body["suspend"]) == ("Replace", True)
    assert (body["successfulJobsHistoryLimit"], body["failedJobsHistoryLimit"]) == (7, 7)
    assert body["jobTemplate"]["spec"]["backoffLimit"] == 2
    assert body["jobTemplate"]["spec"]["ttlSecondsAfterFinished"] == 3600


def test_the_input_reaches_the_run_and_nothing_in_it_is_expanded() -> None:
    body = job({**NIGHTLY, "input": "Summarise $(date), $$5"})
    assert variables(body)["AGENT_INPUT"] == "Summarise $$(date), $$$$5"
    names = [entry["name"] for entry in pod(body)["containers"][0]["env"]]
    assert names == sorted(names)
    assert "AGENT_INPUT" not in variables(job())


def test_runs_of_one_agent_differ_in_their_input_only() -> None:
    schedules = [{**NIGHTLY, "input": "a"}, {**NIGHTLY, "input": "b"}]
    rendered = render({"type": "Job", "job": {"schedules": schedules}})
    first, second = (item.manifest for item in rendered if item.manifest["kind"] == "CronJob")
    assert variables(first["spec"])["AGENT_INPUT"] == "a"
    assert variables(second["spec"])["AGENT_INPUT"] == "b"
    assert pod(first["spec"])["volumes"] == pod(second["spec"])["volumes"]


def test_a_run_selects_as_the_network_policy_does() -> None:
    rendered = render({"type": "Job", "job": {"schedules": [NIGHTLY]}})
    selector = only(rendered, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"]
    template = only(rendered, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]
    assert selector.items() <= template["metadata"]["labels"].items()
