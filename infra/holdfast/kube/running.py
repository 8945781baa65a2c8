"""State of what runs: pods, Jobs and nodes. Pure.

Source: Kubernetes API reference, PodStatus, JobStatus, NodeStatus.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.kube.pod_waits import STARTING
from holdfast.kube.scalars import parse_quantity

MEASURED: Final = ("cpu", "memory")
_VERSION_LABEL: Final = "app.kubernetes.io/version"


@dataclass(frozen=True)
class Consumption:
    """What a pod uses of one resource; amounts in its base unit (cores, bytes).

    Attributes:
        used: None where it is not measured.
        limit: Of all containers together; None where one of them has none.
    """

    resource: str
    used: Fraction | None
    limit: Fraction | None


@dataclass(frozen=True)
class PodState:
    """What one pod is doing.

    Attributes:
        phase: Its phase, or what its containers are stuck in, such as CrashLoopBackOff.
        message: Why, in the words of the cluster; empty where it says nothing.
        is_ready: Whether it takes requests.
        restarts: Of all its containers.
        node: Where it runs; empty before it is placed.
        images: Container to the digest that its node has resolved; empty where it is not known.
        consumption: Of each measured resource.
    """

    name: str
    phase: str
    message: str
    is_ready: bool
    restarts: int
    node: str
    images: Mapping[str, str]
    consumption: tuple[Consumption, ...]


@dataclass(frozen=True)
class JobState:
    """What came of one Job.

    Attributes:
        outcome: `running`, `complete`, `failed` or `suspended`.
        reason: Why it failed, in the words of the cluster.
    """

    name: str
    outcome: str
    reason: str = ""


def pod_state(pod: KubeObject, usage: Mapping[str, Any] | None) -> PodState:
    """One pod.

    Args:
        pod: The pod.
        usage: Its PodMetrics; None where there are none.
    """
    statuses = [*_statuses(pod, "initContainerStatuses"), *_statuses(pod, "containerStatuses")]
    phase, message = _phase(pod)
    conditions = mapping_at(pod, "status").get("conditions") or []
    return PodState(
        name=reference_of(pod).name,
        phase=phase,
        message=message,
        is_ready=any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions),
        restarts=sum(int(status.get("restartCount") or 0) for status in statuses),
        node=str(mapping_at(pod, "spec").get("nodeName") or ""),
        images={
            str(status.get("name")): str(status.get("imageID") or "").rpartition("@")[2]
            for status in _statuses(pod, "containerStatuses")
        },
        consumption=tuple(_consumption(pod, usage, resource) for resource in MEASURED),
    )


def job_state(job: KubeObject) -> JobState:
    """One Job."""
    name = reference_of(job).name
    for condition in mapping_at(job, "status").get("conditions") or []:
        if condition.get("status") != "True":
            continue
        if condition.get("type") == "Complete":
            return JobState(name, "complete")
        if condition.get("type") in {"Failed", "FailureTarget"}:
            words = (condition.get("reason"), condition.get("message"))
            return JobState(name, "failed", ": ".join(str(word) for word in words if word))
    is_suspended = bool(mapping_at(job, "spec").get("suspend"))
    return JobState(name, "suspended" if is_suspended else "running")


def _phase(pod: KubeObject) -> tuple[str, str]:
    status = mapping_at(pod, "status")
    if mapping_at(pod, "metadata").get("deletionTimestamp"):
        return "Terminating", ""
    for kind, prefix in (("initContainerStatuses", "Init:"), ("containerStatuses", "")):
        for container in _statuses(pod, kind):
            waiting = mapping_at(container, "state", "waiting")
            reason = str(waiting.get("reason") or "")
            if reason and reason not in STARTING:
                return prefix + reason, str(waiting.get("message") or "")
    cause = status.get("reason")
    phase = str(status.get("phase") or "Unknown")
    message = str(status.get("message") or "")
    if phase == "Pending" and not message:
        message = _unplaced(status)
    return (f"{phase} ({cause})" if cause else phase), message or _ended(pod)


def _unplaced(status: Mapping[str, Any]) -> str:
    """Why the scheduler has found no node."""
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return str(condition.get("message") or condition.get("reason") or "")
    return ""


def _ended(pod: KubeObject) -> str:
    """What a container that failed has left as its last words."""
    for container in _statuses(pod, "containerStatuses"):
        ended = mapping_at(container, "state", "terminated")
        if ended.get("exitCode"):
            return str(ended.get("message") or f"exit code {ended['exitCode']}")
    return ""


def _consumption(pod: KubeObject, usage: Mapping[str, Any] | None, resource: str) -> Consumption:
    used = None
    if usage is not None:
        amounts = (
            mapping_at(each, "usage").get(resource) for each in usage.get("containers") or []
        )
        used = _sum(amounts)
    containers = mapping_at(pod, "spec").get("containers") or []
    limit = _sum(mapping_at(each, "resources", "limits").get(resource) for each in containers)
    return Consumption(resource, used, limit)


def _sum(amounts: Iterable[Any]) -> Fraction | None:
    """Of all; None where one is not known."""
    listed = list(amounts)
    if not listed or any(each is None for each in listed):
        return None
    return sum((parse_quantity(each) for each in listed), Fraction(0))


def _statuses(pod: Mapping[str, Any], field: str) -> list[dict[str, Any]]:
    return mapping_at(pod, "status").get(field) or []


def version_of(live: KubeObject) -> str:
    """Version of what an object runs, by its label; empty without one."""
    # A semantic version may hold '+', a label may not.
    return str(mapping_at(live, "metadata", "labels").get(_VERSION_LABEL) or "").replace("_", "+")


NODE_GONE = "it does not exist any more"


def node_trouble(node: Mapping[str, Any] | None) -> str:
    """Why a node is to be left; empty when it takes pods.

    Args:
        node: The live node; None when there is none of that name.
    """
    if node is None:
        return NODE_GONE
    conditions = mapping_at(node, "status").get("conditions") or ()
    ready: Mapping[str, Any] = next(
        (each for each in conditions if each.get("type") == "Ready"), {}
    )
    if ready.get("status") != "True":
        return f"it is not ready: {ready.get('reason') or 'it says nothing'}"
    if mapping_at(node, "spec").get("unschedulable"):
        return "it is cordoned"
    return ""
