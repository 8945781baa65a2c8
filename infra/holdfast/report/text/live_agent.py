"""What is known of an agent in its cluster, as text and data: what runs, since which commit, drift.

Everything that comes from the cluster passes `safe_text`.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from holdfast.drift.finding import Finding
from holdfast.kube.running import Consumption, PodState
from holdfast.kube.text import counted, safe_text
from holdfast.operations.describe.agent import LiveAgent
from holdfast.report.documents.drift import finding_json, object_document
from holdfast.report.text.finding_text import actor_words, headline, policy_words

NOT_AVAILABLE: Final = "not available"
_LONGEST_CHARACTERS: Final = 300
_SHORT_DIGEST: Final = len("sha256:") + 12


def live_sections(live: LiveAgent) -> Iterator[tuple[str, list[str]]]:
    """Title and lines of each part, for people."""
    yield "Runs now", [*_running(live)]
    yield "Brought here by", [_origin(live)]
    differs = [_difference(each) for each in live.findings]
    unknown = [f"not checked: {each.scope}: {each.reason}" for each in live.not_checked]
    lines = [*differs, *unknown] or ["nothing: it is as declared"]
    title = f"Differs from what is declared ({live.state.value})"
    yield title, [safe_text(line, 2 * _LONGEST_CHARACTERS) for line in lines]


def live_document(live: LiveAgent) -> dict[str, Any]:
    """The same for programs; amounts in cores and bytes, null where nothing is known."""
    update = live.update
    return {
        "version": {"declared": live.declared_version, "live": list(live.live_versions)},
        "workloads": [
            {
                "object": object_document(each.ref),
                "desired": each.desired,
                "ready": each.ready,
                "lastRun": each.last_run or None,
            }
            for each in live.workloads
        ],
        "absent": [object_document(ref) for ref in live.absent],
        "unread": [object_document(ref) for ref in live.unread],
        "pods": [_pod(each) for each in live.pods],
        "jobs": [
            {"name": each.name, "outcome": each.outcome, "reason": each.reason}
            for each in live.jobs
        ],
        "unmeasured": live.unmeasured,
        "update": update
        and {
            "commit": update.commit,
            "dirty": update.is_dirty,
            "author": update.author,
            "operator": update.operator,
            "action": update.action,
            "startedAt": update.started_at,
        },
        "drift": {
            "state": live.state.value,
            "findings": [finding_json(each) for each in live.findings],
            "notChecked": [
                {"scope": each.scope, "reason": each.reason} for each in live.not_checked
            ],
        },
    }


def _running(live: LiveAgent) -> Iterator[str]:
    if live.live_versions:
        yield safe_text(_version(live), _LONGEST_CHARACTERS)
    for ref in live.absent:
        yield f"{ref}: does not exist"
    for ref in live.unread:
        yield f"{ref}: not known, it cannot be read"
    for each in live.workloads:
        if each.desired is None:
            yield f"{each.ref}: last run {each.last_run or 'none yet'}"
        else:
            yield f"{each.ref}: {each.ready} of {each.desired} ready"
    for pod in live.pods:
        ready = "ready" if pod.is_ready else "not ready"
        restarts = counted(pod.restarts, "restart")
        node = f"on {pod.node}" if pod.node else "on no node"
        yield safe_text(f"pod {pod.name}: {pod.phase}, {ready}, {restarts}, {node}")
        if pod.message:
            yield safe_text(f"  {pod.message}", _LONGEST_CHARACTERS)
        images = (
            f"{name} {digest[:_SHORT_DIGEST] or NOT_AVAILABLE}" for name, digest in _images(pod)
        )
        yield safe_text(f"  image {', '.join(images) or NOT_AVAILABLE}", _LONGEST_CHARACTERS)
        yield f"  {', '.join(_used(each) for each in pod.consumption)}"
    for job in live.jobs:
        why = f" ({job.reason})" if job.reason else ""
        yield safe_text(f"Job {job.name}: {job.outcome}{why}", _LONGEST_CHARACTERS)
    if live.pods and live.unmeasured:
        yield safe_text(f"use of cpu and memory: {live.unmeasured}", _LONGEST_CHARACTERS)
    if not live.pods:
        yield "no pods"


def _version(live: LiveAgent) -> str:
    runs = ", ".join(live.live_versions)
    if live.live_versions == (live.declared_version,):
        return f"version {runs}, as declared"
    return f"version {runs}; declared is {live.declared_version}"


def _images(pod: PodState) -> list[tuple[str, str]]:
    return sorted(pod.images.items())


def _used(each: Consumption) -> str:
    limit = _amount(each.resource, each.limit) if each.limit is not None else "no limit"
    used = _amount(each.resource, each.used) if each.used is not None else NOT_AVAILABLE
    return f"{each.resource} {used} of {limit}"


def _amount(resource: str, amount: Fraction) -> str:
    if resource == "memory":
        return f"{float(amount / 2**20):.0f}Mi"
    return f"{float(amount):.3g}"


def _origin(live: LiveAgent) -> str:
    update = live.update
    if update is None:
        return safe_text(live.no_update, _LONGEST_CHARACTERS)
    commit = f"commit {update.commit[:12]}" if update.commit else "no commit"
    dirty = " with uncommitted changes" if update.is_dirty else ""
    author = f" of {update.author}" if update.author else ""
    who = f", by {update.operator}" if update.operator else ""
    text = f"{commit}{dirty}{author}: {update.action} at {update.started_at}{who}"
    return safe_text(text, _LONGEST_CHARACTERS)


def _difference(finding: Finding) -> str:
    rules = f" (breaks {policy_words(finding)})" if finding.policies else ""
    who = "; ".join(actor_words(actor) for actor in finding.actors) or "unknown"
    return f"{finding.severity.value} {finding.ref}: {headline(finding)}{rules}, by {who}"


def _pod(pod: PodState) -> dict[str, Any]:
    return {
        "name": pod.name,
        "phase": pod.phase,
        "message": pod.message,
        "ready": pod.is_ready,
        "restarts": pod.restarts,
        "node": pod.node or None,
        "images": {name: digest or None for name, digest in _images(pod)},
        "resources": {
            each.resource: {"used": _number(each.used), "limit": _number(each.limit)}
            for each in pod.consumption
        },
    }


def _number(amount: Fraction | None) -> float | None:
    return None if amount is None else float(amount)
