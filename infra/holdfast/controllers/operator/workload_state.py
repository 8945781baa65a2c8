"""How the pods of an agent are: how many, how many ready, what they wait for. Pure.

Sources: apps/v1 DeploymentStatus, batch/v1 CronJobStatus, v1 PodStatus and ContainerStateWaiting;
Argo Rollouts, RolloutStatus; agent-sandbox, SandboxStatus.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.kube.conditions import Truth
from holdfast.kube.objects import mapping_at

Live = Mapping[str, Any]
_COUNTED: Final = frozenset({"Deployment", "StatefulSet", "Rollout", "SandboxWarmPool"})
WORKLOADS: Final = (*sorted(_COUNTED), "CronJob", "Sandbox")
"""Kinds that run an agent's pods."""

_STARTING: Final = frozenset({"ContainerCreating", "PodInitializing", ""})


@dataclass(frozen=True)
class WorkloadState:
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


def workload_state(workloads: Iterable[Live], pods: Iterable[Live]) -> WorkloadState:
    """State of an agent's pods, all of its workloads together.

    Args:
        workloads: Live objects of the kinds in WORKLOADS.
        pods: Live pods of the agent.
    """
    states = [_state_of(each) for each in workloads]
    if not states:
        return WorkloadState()
    wanted, ready = sum(each.wanted for each in states), sum(each.ready for each in states)
    worst = min(states, key=lambda each: (_RANK[each.is_ready], _RANK[each.is_rolled_out]))
    reason, message = worst.reason, worst.message
    if worst.is_ready != "True" or worst.is_rolled_out != "True":
        stuck = stuck_pods(pods)
        reason, message = stuck or (reason, message)
    return WorkloadState(
        wanted,
        ready,
        worst.is_ready,
        min((each.is_rolled_out for each in states), key=_RANK.__getitem__),
        reason,
        message,
    )


_RANK: Final[Mapping[Truth, int]] = {"False": 0, "Unknown": 1, "True": 2}


def _state_of(live: Live) -> WorkloadState:
    kind = str(live.get("kind"))
    if kind in _COUNTED:
        return _of_counted(live)
    if kind == "CronJob":
        is_suspended = bool(mapping_at(live, "spec").get("suspend"))
        reason = "Suspended" if is_suspended else "Scheduled"
        message = "its schedule is suspended" if is_suspended else "it runs by its schedule"
        return WorkloadState(0, 0, "False" if is_suspended else "True", "True", reason, message)
    return _of_sandbox(live)


def _of_counted(live: Live) -> WorkloadState:
    spec, status = mapping_at(live, "spec"), mapping_at(live, "status")
    replicas = spec.get("replicas")
    wanted = 1 if replicas is None else int(replicas)
    ready = int(status.get("readyReplicas") or 0)
    is_seen = _is_observed(live, status.get("observedGeneration"))
    updated = int(status.get("updatedReplicas") or 0)
    total = int(status.get("replicas") or 0)
    if live.get("kind") == "SandboxWarmPool":
        is_seen, updated, total = True, wanted, wanted
    is_done = is_seen and updated >= wanted and total <= updated
    is_ready = is_seen and ready >= wanted
    message = f"{ready} of {wanted} pods are ready"
    reason = "AllReady" if is_ready else "PodsNotReady"
    if stalled := _stalled(status):
        reason, message = stalled
    elif is_ready and not is_done:
        reason, message = "RollingOut", f"{updated} of {wanted} pods are of the newest version"
    return WorkloadState(wanted, ready, _truth(is_ready), _truth(is_done), reason, message)


def _is_observed(live: Live, observed: object) -> bool:
    """Whether a controller has seen the newest generation.

    Argo Rollouts writes the generation as text, before 1.0 a hash, which says nothing of it.
    """
    if isinstance(observed, str) and not observed.isdecimal():
        return True
    generation = int(mapping_at(live, "metadata").get("generation") or 0)
    return int(str(observed or 0)) >= generation


def _stalled(status: Live) -> tuple[str, str] | None:
    for each in status.get("conditions") or ():
        if each.get("type") == "Progressing" and each.get("status") == "False":
            return str(each.get("reason")), str(each.get("message"))
        if each.get("type") == "ReplicaFailure" and each.get("status") == "True":
            return str(each.get("reason")), str(each.get("message"))
    return None


def _of_sandbox(live: Live) -> WorkloadState:
    conditions = mapping_at(live, "status").get("conditions") or ()
    ready = next((each for each in conditions if each.get("type") == "Ready"), None)
    if ready is None:
        return WorkloadState(1, 0, reason="SandboxUnknown", message="its sandbox says nothing yet")
    is_ready = ready.get("status") == "True"
    reason, message = str(ready.get("reason") or "Sandbox"), str(ready.get("message") or "")
    return WorkloadState(1, int(is_ready), _truth(is_ready), "True", reason, message)


def _truth(value: bool) -> Truth:
    return "True" if value else "False"


def stuck_pods(pods: Iterable[Live]) -> tuple[str, str] | None:
    """Why pods do not start or stay, told of the commonest reason; None when none says."""
    found: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for pod in pods:
        for reason, message in _troubles(pod):
            found[reason, ""] += 1
            examples.setdefault((reason, ""), f"pod {pod['metadata']['name']}: {message}")
    if not found:
        return None
    [(key, count)] = found.most_common(1)
    more = f" (and {count - 1} more)" if count > 1 else ""
    return key[0], f"{examples[key]}{more}"


def _troubles(pod: Live) -> Iterator[tuple[str, str]]:
    status = mapping_at(pod, "status")
    for each in status.get("conditions") or ():
        if each.get("type") == "PodScheduled" and each.get("status") == "False":
            yield str(each.get("reason") or "Unschedulable"), str(each.get("message") or "")
    if status.get("phase") == "Failed":
        yield str(status.get("reason") or "PodFailed"), str(status.get("message") or "it failed")
    for field in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(field) or ():
            waiting = mapping_at(container, "state", "waiting")
            reason = str(waiting.get("reason") or "")
            if reason not in _STARTING:
                restarts = int(container.get("restartCount") or 0)
                told = str(waiting.get("message") or "waits")
                yield reason, f"container {container.get('name')}, {restarts} restarts: {told}"
