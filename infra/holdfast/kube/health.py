"""Whether a workload does its work: what Kubernetes says of it, in one of four words. Pure.

Source: Kubernetes documentation, "Deployments: status", "StatefulSets", "Jobs"; Argo Rollouts,
"Rollout phases".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from holdfast.kube.objects import mapping_at


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


def health_of(live: Mapping[str, Any]) -> HealthVerdict:
    """Judge one live object; what runs no pods is healthy by being there.

    Law: what its controller has not looked at since its last change is never healthy.
    """
    judge = _JUDGES.get(str(live.get("kind")))
    if judge is None:
        return HEALTHY
    status = mapping_at(live, "status")
    generation = mapping_at(live, "metadata").get("generation", 0)
    seen = status.get("observedGeneration")
    if seen is not None and int(seen) < generation:
        return HealthVerdict(Health.PROGRESSING, "its controller has not seen the last change")
    if seen is None and str(live.get("kind")) != "Job":
        return HealthVerdict(Health.UNKNOWN, "no controller has said anything of it")
    return judge(mapping_at(live, "spec"), status)


def worst(verdicts: Mapping[str, HealthVerdict]) -> HealthVerdict:
    """The worst verdict, with the name it is about; healthy when there is none."""
    order = list(Health)
    name = max(verdicts, key=lambda each: order.index(verdicts[each].health), default="")
    if not name or verdicts[name].is_healthy:
        return HEALTHY
    return HealthVerdict(verdicts[name].health, f"{name}: {verdicts[name].reason}")


def _deployment(spec: Mapping[str, Any], status: Mapping[str, Any]) -> HealthVerdict:
    progress = _condition(status, "Progressing")
    if progress.get("status") == "False":
        why = f"{progress.get('reason')}: {progress.get('message')}"
        return HealthVerdict(Health.DEGRADED, why)
    return _replicas(spec, status, "availableReplicas")


def _stateful_set(spec: Mapping[str, Any], status: Mapping[str, Any]) -> HealthVerdict:
    return _replicas(spec, status, "readyReplicas")


def _daemon_set(_: Mapping[str, Any], status: Mapping[str, Any]) -> HealthVerdict:
    wanted = status.get("desiredNumberScheduled", 0)
    ready, updated = (status.get(key, 0) for key in ("numberAvailable", "updatedNumberScheduled"))
    if min(ready, updated) >= wanted:
        return HEALTHY
    return HealthVerdict(Health.PROGRESSING, f"{min(ready, updated)} of {wanted} pods are ready")


def _rollout(spec: Mapping[str, Any], status: Mapping[str, Any]) -> HealthVerdict:
    phase = str(status.get("phase") or "")
    if phase == "Healthy":
        return _replicas(spec, status, "availableReplicas")
    known = {"Degraded": Health.DEGRADED, "Progressing": Health.PROGRESSING}
    state = known.get(phase, Health.PROGRESSING if phase == "Paused" else Health.UNKNOWN)
    return HealthVerdict(state, str(status.get("message") or phase or "it has no phase"))


def _job(_: Mapping[str, Any], status: Mapping[str, Any]) -> HealthVerdict:
    failed = _condition(status, "Failed")
    if failed.get("status") == "True":
        return HealthVerdict(Health.DEGRADED, f"{failed.get('reason')}: {failed.get('message')}")
    if _condition(status, "Complete").get("status") == "True":
        return HEALTHY
    return HealthVerdict(Health.PROGRESSING, "it has not finished")


def _replicas(spec: Mapping[str, Any], status: Mapping[str, Any], ready: str) -> HealthVerdict:
    wanted = spec.get("replicas", 1)
    updated = status.get("updatedReplicas", 0)
    there = status.get(ready, 0)
    if updated < wanted:
        return HealthVerdict(Health.PROGRESSING, f"{updated} of {wanted} pods are of this version")
    if there < wanted:
        return HealthVerdict(Health.PROGRESSING, f"{there} of {wanted} pods are ready")
    return HEALTHY


def _condition(status: Mapping[str, Any], wanted: str) -> Mapping[str, Any]:
    conditions = status.get("conditions")
    found = conditions if isinstance(conditions, list) else []
    return next((dict(each) for each in found if each.get("type") == wanted), {})


_JUDGES: Final[dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], HealthVerdict]]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Rollout": _rollout,
    "Job": _job,
}
