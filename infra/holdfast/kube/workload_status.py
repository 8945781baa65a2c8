"""Whether a workload does its work: its pods counted, judged in one of four words, summed up. Pure.

Sources: Kubernetes API reference, DeploymentStatus, StatefulSetStatus, DaemonSetStatus, JobStatus;
Argo Rollouts, RolloutStatus and "Rollout phases"; agent-sandbox, SandboxStatus.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from holdfast.kube.conditions import Truth, condition_in
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.kube.pod_waits import stuck_pods

Live = Mapping[str, Any]
_COUNTED: Final = frozenset({"Deployment", "StatefulSet", "Rollout", "SandboxWarmPool"})
WORKLOADS: Final = (*sorted(_COUNTED), "CronJob", "Sandbox")
"""Kinds that run an agent's pods."""

_KEEPS_RUNNING: Final = frozenset(
    {"Deployment", "StatefulSet", "ReplicaSet", "Rollout", "DaemonSet", "Sandbox"}
)

_OF_REPLICAS: Final = ("readyReplicas", "availableReplicas", "updatedReplicas", "replicas")
_OF_DAEMONS: Final = (
    "desiredNumberScheduled",
    "numberReady",
    "numberAvailable",
    "updatedNumberScheduled",
    "currentNumberScheduled",
)


@dataclass(frozen=True)
class PodCounts:
    """Pods of one workload.

    Attributes:
        wanted: That it asks for now.
        ready: That are ready.
        available: That have been ready for long enough.
        updated: That are of its newest version.
        total: That are there, old ones included.
    """

    wanted: int
    ready: int
    available: int
    updated: int
    total: int


def pod_counts(live: Live) -> PodCounts:
    """Count the pods of a workload, as its controller has counted them last."""
    spec, status, kind = mapping_at(live, "spec"), mapping_at(live, "status"), live.get("kind")
    if kind == "DaemonSet":
        return PodCounts(*(_count(status.get(name)) for name in _OF_DAEMONS))
    wanted = _count(spec.get("replicas"), absent=1)
    if kind == "Sandbox" and status.get("readyReplicas") is None:
        ready = int(condition_in(status, "Ready").get("status") == "True")
        return PodCounts(wanted, ready, ready, ready, ready)
    if kind == "SandboxWarmPool":  # it reports no versions
        ready = _count(status.get("readyReplicas"))
        return PodCounts(wanted, ready, ready, wanted, wanted)
    return PodCounts(wanted, *(_count(status.get(name)) for name in _OF_REPLICAS))


def is_observed(live: Live) -> bool | None:
    """Whether its controller has seen the last change; None when no controller has said anything.

    Argo Rollouts writes the generation as text, and a hash of the spec before version 1.0: of such
    a hash only this is known, that there is a controller.
    """
    seen = mapping_at(live, "status").get("observedGeneration")
    if seen is None:
        return None
    is_number = isinstance(seen, int) or str(seen).isdecimal()
    return not is_number or int(seen) >= _count(mapping_at(live, "metadata").get("generation"))


def _count(value: object, *, absent: int = 0) -> int:
    """A number of a status; the absent one where it is not there, null or no number."""
    return value if isinstance(value, int) else absent


@dataclass(frozen=True)
class WorkloadState:
    """How much of a workload is there.

    Attributes:
        desired: Replicas that it is to have now; None for what makes Jobs.
        ready: Of these, healthy ones; None for what makes Jobs.
        last_run: When it last made a Job (RFC 3339); empty for all others, and before the first.
    """

    ref: ObjectRef
    desired: int | None = None
    ready: int | None = None
    last_run: str = ""


def workload_state(live: KubeObject) -> WorkloadState:
    """One object that runs pods, or makes Jobs."""
    ref, status = reference_of(live), mapping_at(live, "status")
    if ref.kind not in _KEEPS_RUNNING:
        last = status.get("lastScheduleTime") or status.get("lastActiveTime")
        return WorkloadState(ref, last_run=str(last or ""))
    counts = pod_counts(live)
    return WorkloadState(ref, counts.wanted, counts.ready)


class Health(Enum):
    """How a workload is; the order is from good to bad."""

    HEALTHY = "Healthy"
    PROGRESSING = "Progressing"
    UNKNOWN = "Unknown"
    DEGRADED = "Degraded"


@dataclass(frozen=True)
class HealthVerdict:
    """How something is, and why it is no better; no reason is given when it is healthy."""

    health: Health
    reason: str = ""

    @property
    def is_healthy(self) -> bool:
        """Whether all of it does its work."""
        return self.health is Health.HEALTHY


HEALTHY: Final = HealthVerdict(Health.HEALTHY)


def health_of(live: Live) -> HealthVerdict:
    """Judge one live object; what runs no pods is healthy by being there.

    Law: what its controller has not observed since its last change is never healthy.
    """
    judge = _JUDGES.get(str(live.get("kind")))
    if judge is None:
        return HEALTHY
    observed = is_observed(live)
    if observed is False:
        return HealthVerdict(Health.PROGRESSING, "its controller has not seen the last change")
    if observed is None and str(live.get("kind")) != "Job":
        return HealthVerdict(Health.UNKNOWN, "no controller has said anything of it")
    return judge(live)


def refused_pods(live: Live) -> str:
    """Why the cluster refuses the pods of a workload's newest version; empty when it does not."""
    if not is_observed(live):
        return ""
    failure = condition_in(mapping_at(live, "status"), "ReplicaFailure")
    if failure.get("status") != "True" or failure.get("reason") != "FailedCreate":
        return ""
    return str(failure.get("message") or failure.get("reason"))


def is_aborted(live: Live) -> bool:
    """Whether the rollout of a workload's newest version was aborted; it goes on by itself never.

    Source: Argo Rollouts, RolloutStatus: `abort` stays until another version is applied.
    """
    status = mapping_at(live, "status")
    return live.get("kind") == "Rollout" and bool(is_observed(live)) and status.get("abort") is True


def worst(verdicts: Mapping[str, HealthVerdict]) -> HealthVerdict:
    """The worst verdict, with the name it is about; healthy when there is none."""
    order = list(Health)
    name = max(verdicts, key=lambda each: order.index(verdicts[each].health), default="")
    if not name or verdicts[name].is_healthy:
        return HEALTHY
    return HealthVerdict(verdicts[name].health, f"{name}: {verdicts[name].reason}")


def _deployment(live: Live) -> HealthVerdict:
    progress = condition_in(mapping_at(live, "status"), "Progressing")
    if progress.get("status") == "False":
        why = f"{progress.get('reason')}: {progress.get('message')}"
        return HealthVerdict(Health.DEGRADED, why)
    counts = pod_counts(live)
    return _replicas(counts, counts.available)


def _stateful_set(live: Live) -> HealthVerdict:
    counts = pod_counts(live)
    return _replicas(counts, counts.ready)


def _daemon_set(live: Live) -> HealthVerdict:
    counts = pod_counts(live)
    there = min(counts.available, counts.updated)
    if there >= counts.wanted:
        return HEALTHY
    return HealthVerdict(Health.PROGRESSING, f"{there} of {counts.wanted} pods are ready")


def _rollout(live: Live) -> HealthVerdict:
    status = mapping_at(live, "status")
    phase = str(status.get("phase") or "")
    if phase == "Healthy":
        counts = pod_counts(live)
        return _replicas(counts, counts.available)
    known = {"Degraded": Health.DEGRADED, "Progressing": Health.PROGRESSING}
    state = known.get(phase, Health.PROGRESSING if phase == "Paused" else Health.UNKNOWN)
    return HealthVerdict(state, str(status.get("message") or phase or "it has no phase"))


def _job(live: Live) -> HealthVerdict:
    status = mapping_at(live, "status")
    failed = condition_in(status, "Failed")
    if failed.get("status") == "True":
        return HealthVerdict(Health.DEGRADED, f"{failed.get('reason')}: {failed.get('message')}")
    if condition_in(status, "Complete").get("status") == "True":
        return HEALTHY
    return HealthVerdict(Health.PROGRESSING, "it has not finished")


def _replicas(counts: PodCounts, there: int) -> HealthVerdict:
    wanted, updated = counts.wanted, counts.updated
    if updated < wanted:
        return HealthVerdict(Health.PROGRESSING, f"{updated} of {wanted} pods are of this version")
    if there < wanted:
        return HealthVerdict(Health.PROGRESSING, f"{there} of {wanted} pods are ready")
    return HEALTHY


_JUDGES: Final[dict[str, Callable[[Live], HealthVerdict]]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Rollout": _rollout,
    "Job": _job,
}


@dataclass(frozen=True)
class Readiness:
    """What runs of one agent.

    Attributes:
        wanted: Pods that its workload asks for.
        ready: Pods that are ready.
        is_ready: Whether it can do its work.
        is_rolled_out: Whether all of them are of the newest version.
        reason: Why it is not ready, or not rolled out: one word.
        message: The same for people.
    """

    wanted: int = 0
    ready: int = 0
    is_ready: Truth = "Unknown"
    is_rolled_out: Truth = "Unknown"
    reason: str = "NoWorkload"
    message: str = "nothing runs it yet"


def readiness_of(workloads: Iterable[Live], pods: Iterable[Live]) -> Readiness:
    """State of an agent's pods, all of its workloads together.

    Args:
        workloads: Live objects of the kinds in WORKLOADS.
        pods: Live pods of the agent.
    """
    states = [_readiness(each) for each in workloads]
    if not states:
        return Readiness()
    wanted, ready = sum(each.wanted for each in states), sum(each.ready for each in states)
    worst = min(states, key=lambda each: (_RANK[each.is_ready], _RANK[each.is_rolled_out]))
    reason, message = worst.reason, worst.message
    if worst.is_ready != "True" or worst.is_rolled_out != "True":
        stuck = stuck_pods(pods)
        reason, message = stuck or (reason, message)
    return Readiness(
        wanted,
        ready,
        worst.is_ready,
        min((each.is_rolled_out for each in states), key=_RANK.__getitem__),
        reason,
        message,
    )


_RANK: Final[Mapping[Truth, int]] = {"False": 0, "Unknown": 1, "True": 2}


def _readiness(live: Live) -> Readiness:
    kind = str(live.get("kind"))
    if kind in _COUNTED:
        return _of_counted(live)
    if kind == "CronJob":
        is_suspended = bool(mapping_at(live, "spec").get("suspend"))
        reason = "Suspended" if is_suspended else "Scheduled"
        message = "its schedule is suspended" if is_suspended else "it runs by its schedule"
        return Readiness(0, 0, "False" if is_suspended else "True", "True", reason, message)
    return _of_sandbox(live)


def _of_counted(live: Live) -> Readiness:
    counts = pod_counts(live)
    wanted, updated = counts.wanted, counts.updated
    is_seen = bool(is_observed(live)) or live.get("kind") == "SandboxWarmPool"
    is_done = is_seen and updated >= wanted and counts.total <= updated
    is_ready = is_seen and counts.ready >= wanted
    message = f"{counts.ready} of {wanted} pods are ready"
    reason = "AllReady" if is_ready else "PodsNotReady"
    if stalled := _stalled(mapping_at(live, "status")):
        reason, message = stalled
    elif is_ready and not is_done:
        reason, message = "RollingOut", f"{updated} of {wanted} pods are of the newest version"
    return Readiness(wanted, counts.ready, _truth(is_ready), _truth(is_done), reason, message)


def _stalled(status: Live) -> tuple[str, str] | None:
    for name, trouble in (("Progressing", "False"), ("ReplicaFailure", "True")):
        found = condition_in(status, name)
        if found.get("status") == trouble:
            return str(found.get("reason")), str(found.get("message"))
    return None


def _of_sandbox(live: Live) -> Readiness:
    ready = condition_in(mapping_at(live, "status"), "Ready")
    if not ready:
        return Readiness(1, 0, reason="SandboxUnknown", message="its sandbox says nothing yet")
    is_ready = ready.get("status") == "True"
    reason, message = str(ready.get("reason") or "Sandbox"), str(ready.get("message") or "")
    return Readiness(1, int(is_ready), _truth(is_ready), "True", reason, message)


def _truth(value: bool) -> Truth:
    return "True" if value else "False"
