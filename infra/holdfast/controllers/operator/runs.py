"""What came of an agent's last run, where it runs as a job. Pure."""

from typing import Final

from holdfast.controllers.operator.agent_view import AgentView
from holdfast.kube.conditions import Condition, Truth
from holdfast.kube.objects import KubeObject
from holdfast.kube.running import JobState, job_state

_MAKES_RUNS: Final = frozenset({"CronJob", "ScaledJob"})
_BACKUP_ROLE: Final = "backup-schedule"
_TRUTH: Final[dict[str, tuple[Truth, str]]] = {
    "complete": ("True", "Complete"),
    "failed": ("False", "Failed"),
    "running": ("Unknown", "Running"),
    "suspended": ("Unknown", "Suspended"),
}


def last_run(view: AgentView) -> Condition | None:
    """The newest run that an agent's schedules or triggers have made; None for what makes none."""
    makers = {
        str(each.manifest["metadata"]["name"])
        for each in view.rendered
        if each.manifest["kind"] in _MAKES_RUNS and each.role != _BACKUP_ROLE
    }
    if not makers:
        return None
    jobs = [one for (_, kind, _, _), one in view.live.items() if kind == "Job"]
    runs = [one for one in jobs if _maker_of(one) in makers]
    if not runs:
        return Condition("LastRun", "Unknown", "NoRunYet", "it has not run yet")
    newest = max(runs, key=lambda one: str(one["metadata"].get("creationTimestamp") or ""))
    state = job_state(newest)
    truth, reason = _TRUTH[state.outcome]
    return Condition("LastRun", truth, reason, _words(state))


def _maker_of(job: KubeObject) -> str:
    owners = job["metadata"].get("ownerReferences") or ()
    return next((str(each.get("name")) for each in owners if each.get("kind") in _MAKES_RUNS), "")


def _words(state: JobState) -> str:
    why = f" ({state.reason})" if state.reason else ""
    return f"Job {state.name}: {state.outcome}{why}"
