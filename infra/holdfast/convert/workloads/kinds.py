"""What each kind of workload says beside its pods, as fields of an agent."""

from collections.abc import Callable, Mapping
from typing import Final

from holdfast.convert.workloads.containers import Fields
from holdfast.convert.workloads.pending_import import PendingImport
from holdfast.kube.objects import mapping_at, reference_of


def _deployment(work: PendingImport, spec: Fields) -> None:
    left = work.left
    left.take("spec", "selector")
    spec["scaling"] = {"replicas": left.take("spec", "replicas", default=1)}
    rollout: Fields = {}
    if left.take("spec", "strategy", "type") == "Recreate":
        rollout["strategy"] = "Recreate"
    for field in ("maxSurge", "maxUnavailable"):
        if (value := left.take("spec", "strategy", "rollingUpdate", field)) is not None:
            rollout[field] = value
    if seconds := left.take("spec", "progressDeadlineSeconds"):
        rollout["progressDeadlineSeconds"] = seconds
    if rollout:
        spec["rollout"] = rollout
    left.drop_equal({"spec": {"revisionHistoryLimit": 10}})


def _stateful_set(work: PendingImport, spec: Fields) -> None:
    left = work.left
    left.take("spec", "selector")
    spec["scaling"] = {"replicas": left.take("spec", "replicas", default=1)}
    spec["rollout"] = {"strategy": "Recreate"}
    claims = left.take("spec", "volumeClaimTemplates") or []
    work.own_claims(spec, claims, "a claim of the agent's own: copy the data, or name the old")
    left.drop_equal(
        {
            "spec": {
                "revisionHistoryLimit": 10,
                "podManagementPolicy": "OrderedReady",
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                "persistentVolumeClaimRetentionPolicy": {
                    "whenDeleted": "Retain",
                    "whenScaled": "Retain",
                },
            }
        }
    )


def _cron_job(work: PendingImport, spec: Fields) -> None:
    left = work.left
    job = ("spec", "jobTemplate", "spec")
    schedule: Fields = {"cron": left.take("spec", "schedule")}
    for field, written in (
        ("timeZone", "timezone"),
        ("concurrencyPolicy", "concurrencyPolicy"),
        ("suspend", "suspend"),
    ):
        if (value := left.take("spec", field)) is not None:
            schedule[written] = value
    schedule.setdefault("concurrencyPolicy", "Allow")
    kept = left.take("spec", "successfulJobsHistoryLimit", default=3)
    schedule["historyLimit"] = kept
    if (failed := left.take("spec", "failedJobsHistoryLimit", default=1)) != kept:
        work.change("spec.failedJobsHistoryLimit", failed, f"{kept}, as of runs that succeed")
    schedule["retries"] = left.take(*job, "backoffLimit", default=6)
    if (seconds := left.take(*job, "ttlSecondsAfterFinished")) is not None:
        schedule["ttlSecondsAfterFinished"] = seconds
    if (deadline := left.take(*job, "activeDeadlineSeconds")) is not None:
        spec["budget"] = {"timeout": f"{deadline}s"}
    policy = work.from_overrides(spec, "restartPolicy")
    if policy not in {None, "Never"}:
        work.change(f"{'.'.join(job)}.template.spec.restartPolicy", policy, "Never")
    spec |= {"type": "Job", "schedules": [schedule]}


def _sandbox(work: PendingImport, spec: Fields) -> None:
    spec["type"] = "Sandbox"
    settings: Fields = {}
    if work.left.take("spec", "operatingMode") == "Suspended":
        settings["operatingMode"] = "Suspended"
    if (seconds := work.from_overrides(spec, "activeDeadlineSeconds")) is not None:
        settings["shutdownAfter"] = f"{seconds}s"
    if settings:
        spec["sandbox"] = settings
    work.left.take("spec", "service")
    if work.left.take("spec", "replicas") == 0:
        spec.setdefault("sandbox", {})["operatingMode"] = "Suspended"
    claims = work.left.take("spec", "volumeClaimTemplates") or []
    work.own_claims(spec, claims, "a claim of the agent's own, which outlives the sandbox")
    work.left.drop_equal({"spec": {"shutdownPolicy": "Retain"}})


def _sandbox_template(work: PendingImport, spec: Fields) -> None:
    left = work.left
    spec["type"] = "Sandbox"
    pool = next(
        (
            each
            for each in work.others
            if each["kind"] == "SandboxWarmPool"
            and mapping_at(each, "spec", "sandboxTemplateRef").get("name") == work.ref.name
        ),
        None,
    )
    if pool is not None:
        work.taken.append(reference_of(pool))
        if pool["metadata"]["name"] != work.ref.name:
            work.change("", pool["metadata"]["name"], f"the pool is called {work.ref.name}")
    settings: Fields = {"warmPool": {"replicas": (pool or {"spec": {}})["spec"].get("replicas", 0)}}
    if mode := left.take("spec", "envVarsInjectionPolicy"):
        settings["envInjection"] = mode
    if (seconds := work.from_overrides(spec, "activeDeadlineSeconds")) is not None:
        settings["shutdownAfter"] = f"{seconds}s"
    spec["sandbox"] = settings
    work.own_claims(spec, left.take("spec", "volumeClaimTemplates") or [], "")
    left.drop_equal({"spec": {"volumeClaimTemplatesPolicy": "Disallowed"}})
    if (policy := left.take("spec", "networkPolicy")) is not None:
        work.lose("spec.networkPolicy", policy, "say it in network.ingressFrom and network.egress")
    if (management := left.take("spec", "networkPolicyManagement")) is not None:
        work.change("spec.networkPolicyManagement", management, "the agent's own NetworkPolicy")


CONVERTERS: Final[Mapping[str, Callable[[PendingImport, Fields], None]]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "CronJob": _cron_job,
    "Sandbox": _sandbox,
    "SandboxTemplate": _sandbox_template,
}
"""Kind of a workload to what takes its own fields over, when those of its pods are taken."""
