"""What a pod waits for until it is ready: a node, an image, a volume, an init container, a check.

Pure. Sources: Kubernetes API reference, PodStatus, ContainerStatus, Event (core/v1); kubelet,
"Events": FailedMount, FailedCreatePodSandBox and Unhealthy are Events only, no status has them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.kube.conditions import condition_in
from holdfast.kube.objects import mapping_at
from holdfast.kube.text import safe_text

Live = Mapping[str, Any]
STARTING: Final = frozenset({"ContainerCreating", "PodInitializing"})
_LONGEST_CHARACTERS: Final = 300


@dataclass(frozen=True)
class PodWait:
    """One thing that keeps a pod from being ready.

    Attributes:
        pod: Name of the pod.
        reason: One word of the cluster, such as `ImagePullBackOff`.
        subject: Container that waits, in words; empty for the pod as a whole.
        message: Why, in the words of the cluster, with what the container said last.
        is_stuck: Whether the status says that something is wrong; else it may be a normal start.
    """

    pod: str
    reason: str
    subject: str
    message: str
    is_stuck: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """The same for every pod and try that waits for the same."""
        return "Image" if "Image" in self.reason else self.reason, self.subject

    def __str__(self) -> str:
        """On one line: pod, container, reason and message."""
        subject = f"{self.subject}: " if self.subject else ""
        text = f"pod {self.pod}: {subject}{self.reason}"
        return safe_text(f"{text}: {self.message}" if self.message else text, longest=600)


def pod_waits(pod: Live, warnings: Iterable[Live] = ()) -> list[PodWait]:
    """What a pod waits for, what is wrong first; empty when it is ready, or ends.

    Args:
        pod: The live pod.
        warnings: Warning Events of its namespace; those of other pods are left out.
    """
    status, metadata = mapping_at(pod, "status"), mapping_at(pod, "metadata")
    if metadata.get("deletionTimestamp") or status.get("phase") == "Succeeded":
        return []
    if condition_in(status, "Ready").get("status") == "True":
        return []
    name = str(metadata.get("name"))
    if stuck := list(_stuck(name, status)):
        return stuck
    if newest := newest_warning(pod, warnings):
        reason, message = str(newest.get("reason") or "Warning"), str(newest.get("message") or "")
        return [PodWait(name, reason, "", safe_text(message, longest=_LONGEST_CHARACTERS))]
    return list(_starting(name, pod))


def stuck_pods(pods: Iterable[Live]) -> tuple[str, str] | None:
    """Reason and message of what most pods are stuck in; None when their status says nothing."""
    waits = [each for pod in pods for each in pod_waits(pod) if each.is_stuck]
    counts = Counter(each.reason for each in waits)
    if not counts:
        return None
    [(reason, count)] = counts.most_common(1)
    first = next(each for each in waits if each.reason == reason)
    subject = f"{first.subject}: " if first.subject else ""
    more = f" (and {count - 1} more)" if count > 1 else ""
    return reason, f"pod {first.pod}: {subject}{first.message}{more}"


def newest_warning(pod: Live, warnings: Iterable[Live]) -> Live | None:
    """The last Warning Event of a pod; None where there is none."""
    metadata = mapping_at(pod, "metadata")
    wanted = (metadata.get("name"), metadata.get("uid"))
    own = (
        each
        for each in warnings
        if (target := mapping_at(each, "involvedObject")).get("name") == wanted[0]
        and target.get("uid") in (None, wanted[1])
    )
    return max(own, key=_last_seen, default=None)


def _last_seen(event: Live) -> str:
    series = mapping_at(event, "series").get("lastObservedTime")
    times = (series, event.get("lastTimestamp"), event.get("eventTime"))
    return max(str(each or "") for each in times)


def _stuck(name: str, status: Live) -> Iterator[PodWait]:
    scheduled = condition_in(status, "PodScheduled")
    if scheduled.get("status") == "False":
        reason = str(scheduled.get("reason") or "Unschedulable")
        yield PodWait(name, reason, "", str(scheduled.get("message") or ""))
    if status.get("phase") == "Failed":
        message = str(status.get("message") or "it failed")
        yield PodWait(name, str(status.get("reason") or "PodFailed"), "", message)
    for subject, container in _containers(status):
        waiting = mapping_at(container, "state", "waiting")
        reason = str(waiting.get("reason") or "")
        ended = _last_end(container)
        if reason and reason not in STARTING:
            message = "; ".join(each for each in (str(waiting.get("message") or ""), ended) if each)
            yield PodWait(name, reason, subject, message)
        elif mapping_at(container, "state", "terminated").get("exitCode"):
            yield PodWait(name, "ContainerFailed", subject, ended)


def _starting(name: str, pod: Live) -> Iterator[PodWait]:
    """What a normal start waits for too: the first init container, else each container."""
    status = mapping_at(pod, "status")
    sidecars = {
        each.get("name")
        for each in mapping_at(pod, "spec").get("initContainers") or ()
        if each.get("restartPolicy") == "Always"
    }
    for container in status.get("initContainerStatuses") or ():
        if container.get("name") not in sidecars and _is_running(container):
            subject = f"init container {container.get('name')}"
            yield PodWait(name, "InitContainerRunning", subject, _last_end(container), False)
            return
    for container in status.get("containerStatuses") or ():
        if _is_running(container) and not container.get("ready"):
            check = "startup" if container.get("started") is False else "readiness"
            message = f"it runs, its {check} probe has not succeeded"
            subject = f"container {container.get('name')}"
            yield PodWait(name, "ContainerNotReady", subject, message, False)


def _is_running(container: Live) -> bool:
    return "running" in mapping_at(container, "state")


def _containers(status: Live) -> Iterator[tuple[str, Live]]:
    for field, kind in (
        ("initContainerStatuses", "init container"),
        ("containerStatuses", "container"),
    ):
        for container in status.get(field) or ():
            yield f"{kind} {container.get('name')}", container


def _last_end(container: Live) -> str:
    """How often a container was restarted, its last exit code, and what it said last."""
    parts = []
    if restarts := int(container.get("restartCount") or 0):
        parts.append(f"{restarts} restarts")
    for state in ("state", "lastState"):
        ended = mapping_at(container, state, "terminated")
        if ended.get("exitCode"):
            cause = ended.get("reason")
            code = f"exit code {ended['exitCode']}"
            parts.append(f"{code} ({cause})" if cause not in (None, "Error") else code)
            said = [each for each in str(ended.get("message") or "").splitlines() if each.strip()]
            if said:
                parts.append(safe_text(said[-1].strip(), longest=_LONGEST_CHARACTERS))
            break
    return ", ".join(parts[:2]) + (f": {parts[2]}" if parts[2:] else "")
