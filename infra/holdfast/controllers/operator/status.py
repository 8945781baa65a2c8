"""The status of an agent: a pure function of what is known of it and what was said before.

Source: kstatus, the conditions `Reconciling` and `Stalled` of sigs.k8s.io/cli-utils.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from holdfast.controllers.operator.agent_view import AgentView
from holdfast.drift.cause.owners import left_to
from holdfast.drift.finding import Finding
from holdfast.kube.conditions import Condition, Truth, join_names, with_times
from holdfast.kube.objects import KubeObject
from holdfast.kube.paths import format_path
from holdfast.kube.running import JobState, job_state
from holdfast.kube.workload_status import WORKLOADS, Readiness, readiness_of
from holdfast.render.plan.metadata import RenderedObject

_MAKES_RUNS: Final = frozenset({"CronJob", "ScaledJob"})
_BACKUP_ROLE: Final = "backup-schedule"
_TRUTH: Final[dict[str, tuple[Truth, str]]] = {
    "complete": ("True", "Complete"),
    "failed": ("False", "Failed"),
    "running": ("Unknown", "Running"),
    "suspended": ("Unknown", "Suspended"),
}
_UNRENDERED: Final = "its objects cannot be rendered"


def agent_status(view: AgentView, now: str) -> dict[str, Any]:
    """The whole status.

    Laws: equal knowledge gives an equal status; what cannot be seen is Unknown, never True.

    Args:
        view: Everything that is known.
        now: RFC 3339; the time of conditions that change.
    """
    before = view.status
    state = readiness_of(_workloads(view), view.pods)
    conditions = tuple(_conditions(view, state))
    truths = {each.type: each.status for each in conditions}
    is_programmed = truths["Programmed"] == "True"
    revision = view.revision if is_programmed else str(before.get("revision") or "")
    commit = str(before.get("commit") or "")
    if is_programmed and (revision != before.get("revision") or not commit):
        commit = view.commit
    status: dict[str, Any] = {
        "observedGeneration": view.generation,
        "phase": _phase(view, truths),
        "replicas": state.wanted,
        "readyReplicas": state.ready,
        "selector": _selector(view),
        "revision": revision,
        "commit": commit,
        "model": view.model,
        "tools": [
            {"server": server, "digest": digest} for server, digest in sorted(view.tools.items())
        ],
        "drift": _drift(view),
        "conditions": with_times(conditions, before.get("conditions") or (), view.generation, now),
    }
    return {key: value for key, value in status.items() if value not in ("", [], {})}


def _conditions(view: AgentView, state: Readiness) -> Iterator[Condition]:
    yield _accepted(view)
    yield _resolved(view)
    yield _compliant(view)
    yield _programmed(view)
    yield stalled(view)
    if view.blind:
        for name in ("RolloutComplete", "Ready", "Drifted"):
            yield Condition(name, "Unknown", "CannotSee", join_names(view.blind))
        return
    rolled = state.reason if state.is_rolled_out != "True" else "Complete"
    yield Condition("RolloutComplete", state.is_rolled_out, rolled, state.message)
    yield Condition("Ready", state.is_ready, state.reason, state.message)
    yield _drifted(view)
    if view.failover is not None:
        yield view.failover.condition
    if (run := last_run(view)) is not None:
        yield run


def _accepted(view: AgentView) -> Condition:
    if view.invalid:
        return Condition("Accepted", "False", "Invalid", join_names(view.invalid))
    return Condition("Accepted", "True", "Valid", "it is a valid manifest")


def _resolved(view: AgentView) -> Condition:
    if view.invalid:
        return Condition("ResolvedRefs", "Unknown", "Invalid", "it is no valid manifest")
    if view.unresolved:
        return Condition("ResolvedRefs", "False", "Unresolved", join_names(view.unresolved))
    return Condition("ResolvedRefs", "True", "Resolved", "everything that it refers to is there")


def _compliant(view: AgentView) -> Condition:
    name = "PolicyCompliant"
    if view.invalid or view.unresolved:
        return Condition(name, "Unknown", "NotRendered", _UNRENDERED)
    live = sorted({rule for finding in view.drift for rule in finding.policies})
    if view.broken:
        return Condition(name, "False", "DeclarationBreaksRules", join_names(view.broken))
    if live:
        return Condition(name, "False", "DriftBreaksRules", join_names(live))
    if view.blind:
        return Condition(name, "Unknown", "CannotSee", join_names(view.blind))
    return Condition(name, "True", "Compliant", "no mandatory rule is broken")


def _programmed(view: AgentView) -> Condition:
    is_new = not view.was_programmed
    cases: tuple[tuple[object, Truth, str, str], ...] = (
        (view.invalid or view.unresolved, "False", "NotRendered", _UNRENDERED),
        (view.error, "False", "NotWritten", view.error),
        (view.blind, "Unknown", "CannotSee", join_names(view.blind)),
        (view.outdated, "False", "Outdated", f"of another revision: {_refs(view.outdated)}"),
        (
            view.missing and is_new,
            "False",
            "NotDeployed",
            f"not there yet: {_refs(view.missing)}",
        ),
        (view.is_paused, "True", "Paused", "its objects are deployed; changes wait"),
    )
    for applies, status, reason, message in cases:
        if applies:
            return Condition("Programmed", status, reason, message)
    return Condition("Programmed", "True", "Deployed", "its objects are those that it declares")


def _refs(items: Sequence[RenderedObject]) -> str:
    return join_names(
        [f"{one.manifest['kind']} {one.manifest['metadata']['name']}" for one in items]
    )


def _drifted(view: AgentView) -> Condition:
    if view.invalid or view.unresolved:
        return Condition("Drifted", "Unknown", "NotRendered", _UNRENDERED)
    if view.missing and not view.was_programmed:
        return Condition("Drifted", "Unknown", "NotDeployed", "its objects are not there yet")
    if view.conflicts:
        message = f"reverted again and again, and only reported now: {join_names(view.conflicts)}"
        return Condition("Drifted", "True", "Conflict", message)
    drift = view.drift
    if drift:
        engines = {view.engine_of(each) for each in drift} - {""}
        message = "; ".join(
            [join_names([_words(each) for each in drift]), *map(left_to, sorted(engines))]
        )
        return Condition("Drifted", "True", "Drift", message)
    return Condition("Drifted", "False", "InSync", "its objects are as declared")


def _words(finding: Finding) -> str:
    """One finding, without its values: a status is read by more people than a report."""
    path = f" {format_path(finding.path)}" if finding.path else ""
    by = ", ".join(sorted({each.user or each.manager for each in finding.actors} - {""}))
    return f"{finding.ref.kind} {finding.ref.name}: {finding.drift_class}{path}" + (
        f" by {by}" if by else ""
    )


def _phase(view: AgentView, truths: Mapping[str, str]) -> str:
    is_new = not view.status.get("revision")
    cases = (
        (view.is_going, "Terminating"),
        ("False" in (truths["Accepted"], truths["ResolvedRefs"]), "Invalid"),
        (view.is_paused, "Paused"),
        (bool(view.blind), "Unknown"),
        (truths["Programmed"] != "True", "Pending" if is_new else "Progressing"),
        (truths["Ready"] == "True", "Ready"),
        (truths["RolloutComplete"] != "True", "Progressing"),
    )
    return next((phase for applies, phase in cases if applies), "Degraded")


def _drift(view: AgentView) -> dict[str, Any]:
    if view.blind or view.invalid or view.unresolved:
        return {}
    drift = view.drift
    worst = min((each.severity for each in drift), key=lambda each: each.rank, default=None)
    found: dict[str, Any] = {"findings": len(drift)}
    if worst is not None:
        found |= {"severity": worst.value}
        found |= {"since": view.drift_since} if view.drift_since else {}
    return found


def _workloads(view: AgentView) -> list[Mapping[str, Any]]:
    return [one for (_, kind, _, _), one in view.live.items() if kind in WORKLOADS]


def _selector(view: AgentView) -> str:
    for item in view.rendered:
        if item.manifest["kind"] in WORKLOADS:
            selector = item.manifest.get("spec", {}).get("selector", {}).get("matchLabels")
            if selector:
                return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    return ""


def stalled(view: AgentView) -> Condition:
    """The condition `Stalled`: True names the one thing that must change first.

    Law: what nothing hinders is never stalled, whatever else is wrong with it.
    """
    mandatory = view.mode == "expand" and not view.was_programmed and view.broken
    cases = (
        (view.is_paused, "Paused", ("the annotation holdfast.dev/paused is true",)),
        (view.invalid, "Invalid", view.invalid),
        (view.unresolved, "Unresolved", view.unresolved),
        (view.blind, "CannotSee", view.blind),
        (mandatory, "PolicyRefused", tuple(f"breaks {rule}" for rule in view.broken)),
        (view.error, "NotWritten", (view.error,)),
        (view.conflicts, "Conflict", tuple(f"left alone: {name}" for name in view.conflicts)),
    )
    for applies, reason, why in cases:
        if applies:
            return Condition("Stalled", "True", reason, join_names(why))
    return Condition("Stalled", "False", "NothingHinders", "nothing hinders it")


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
    return Condition("LastRun", truth, reason, _run_in_words(state))


def _maker_of(job: KubeObject) -> str:
    owners = job["metadata"].get("ownerReferences") or ()
    return next((str(each.get("name")) for each in owners if each.get("kind") in _MAKES_RUNS), "")


def _run_in_words(state: JobState) -> str:
    why = f" ({state.reason})" if state.reason else ""
    return f"Job {state.name}: {state.outcome}{why}"
