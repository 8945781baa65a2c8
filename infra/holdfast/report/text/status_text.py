"""How a stack is, agent by agent: what runs, from which commit, how it differs, who did that."""

from typing import Any, Final

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import Finding, NotChecked
from holdfast.kube.text import safe_text
from holdfast.operations.describe.fleet import FleetAgent, StackStatus
from holdfast.operations.stack.agent_stack import Suspension
from holdfast.report.documents.drift import object_document
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.finding_text import actor_words, headline
from holdfast.report.text.table import table

SCHEMA_VERSION: Final = "holdfast.dev/status/v1"
_LONGEST_REASON_CHARACTERS: Final = 600


def status_text(report: StackStatus) -> str:
    """A line an agent, what is wrong with it below; then what belongs to no agent."""
    lines = [f"stack {report.stack}: {_from(report.update)}"]
    if report.suspension is not None:
        lines.append(safe_text(str(report.suspension)))
    if report.suspension_problem:
        lines.append(f"suspension not known: {safe_text(report.suspension_problem)}")
    head, *rows = table(
        ("AGENT", "SYNC", "HEALTH", "VERSION", "COMMIT", "UPDATED"), map(_cells, report.agents)
    )
    lines += [head] if rows else []
    for each, row in zip(report.agents, rows, strict=True):
        lines.append(row)
        if not each.health.is_healthy:
            lines.append(f"  {safe_text(each.health.reason, longest=_LONGEST_REASON_CHARACTERS)}")
        lines += [f"  {line}" for one in each.drift for line in _finding_lines(one.finding)]
    if report.drift:
        lines.append("drift that belongs to no agent")
    lines += [f"  {line}" for finding in report.drift for line in _finding_lines(finding)]
    lines += [f"not checked: {safe_text(_unseen(each))}" for each in report.not_checked]
    return "\n".join(lines) + "\n"


def _cells(each: FleetAgent) -> tuple[str, ...]:
    version = each.live_version or "?"
    if each.live_version != each.version:
        version += f" (declared {each.version})"
    health = each.health.health.value
    return each.name, each.sync.value, health, safe_text(version), *_updated(each.update)


def status_json(report: StackStatus) -> str:
    """The same as data."""
    return json_text(
        {
            "schemaVersion": SCHEMA_VERSION,
            "stack": report.stack,
            "commit": report.update.commit if report.update else None,
            "suspension": _suspension(report.suspension),
            "agents": [_agent(each) for each in report.agents],
            "drift": [_finding(each) for each in report.drift],
            "notChecked": [_unseen(each) for each in report.not_checked],
        }
    )


def _suspension(suspension: Suspension | None) -> dict[str, str] | None:
    if suspension is None:
        return None
    return {"by": suspension.by, "since": suspension.since, "reason": suspension.reason}


def _agent(each: FleetAgent) -> dict[str, Any]:
    return {
        "name": each.name,
        "namespace": each.namespace,
        "sync": each.sync.value,
        "health": each.health.health.value,
        "reason": each.health.reason,
        "version": {"declared": each.version, "live": each.live_version or None},
        "commit": each.update.commit if each.update else None,
        "updatedAt": each.update.started_at if each.update else None,
        "drift": [_finding(one.finding) for one in each.drift],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity.value,
        "object": object_document(finding.ref),
        "what": headline(finding),
        "by": [actor_words(actor) for actor in finding.actors],
        "policies": list(finding.policies),
    }


def _unseen(each: NotChecked) -> str:
    return f"{each.scope}: {each.reason}"


def _from(update: UpdateRecord | None) -> str:
    if update is None:
        return "no good update is known"
    dirty = " and files that are not committed" if update.is_dirty else ""
    who = f" by {safe_text(update.operator)}" if update.operator else ""
    return (
        f"commit {update.commit[:12] or 'none'}{dirty}, {update.action}{who}, {update.started_at}"
    )


def _updated(update: UpdateRecord | None) -> tuple[str, str]:
    if update is None:
        return "not known", ""
    return update.commit[:12] or update.action, update.started_at


def _finding_lines(finding: Finding) -> list[str]:
    lines = [f"{finding.severity.value}  {finding.ref}  {headline(finding)}"]
    lines += [f"    by {actor_words(actor)}" for actor in finding.actors]
    if finding.policies:
        lines.append(f"    breaks {safe_text(', '.join(finding.policies))}")
    return lines
