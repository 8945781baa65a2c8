"""How a stack is, agent by agent: what runs, from which commit, how it differs, who did that."""

from dataclasses import dataclass
from typing import Any, Final

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import AgentState, Finding
from holdfast.errors import ExitCode
from holdfast.kube.safe_text import safe_text
from holdfast.kube.workload_status import HealthVerdict
from holdfast.report.documents.drift import object_document
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.finding_words import actor_words, headline

SCHEMA_VERSION: Final = "holdfast.dev/status/v1"


@dataclass(frozen=True)
class AgentReport:
    """One agent.

    Attributes:
        version: As its manifest declares.
        live_version: As its workload says; empty when it cannot be seen.
        update: The newest update that changed it; None when none is known.
        findings: Its drift.
    """

    name: str
    namespace: str
    version: str
    live_version: str
    sync: AgentState
    health: HealthVerdict
    update: UpdateRecord | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class StackReport:
    """All agents of a stack.

    Attributes:
        update: The last good update; None without one.
        not_checked: What could not be looked at, and why.
    """

    stack: str
    update: UpdateRecord | None
    agents: tuple[AgentReport, ...]
    not_checked: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """7 for drift, 1 for what is not healthy or not known, else 0."""
        if any(each.sync is AgentState.OUT_OF_SYNC for each in self.agents):
            return ExitCode.DRIFT
        is_fine = all(
            each.sync is AgentState.SYNCED and each.health.is_healthy for each in self.agents
        )
        return ExitCode.OK if is_fine and not self.not_checked else ExitCode.ERROR


def status_text(report: StackReport) -> str:
    """A line an agent, what is wrong with it below."""
    lines = [f"stack {report.stack}: {_from(report.update)}"]
    width = max((len(each.name) for each in report.agents), default=0)
    for each in report.agents:
        version = each.live_version or "?"
        if each.live_version != each.version:
            version += f" (declared {each.version})"
        lines.append(
            f"{each.name:<{width}}  {each.sync.value:<9}  {each.health.health.value:<11}  "
            f"{safe_text(version)}  {_changed_by(each.update)}"
        )
        if not each.health.is_healthy:
            lines.append(f"  {safe_text(each.health.reason)}")
        lines += [f"  {line}" for finding in each.findings for line in _finding_lines(finding)]
    lines += [f"not checked: {safe_text(each)}" for each in report.not_checked]
    return "\n".join(lines) + "\n"


def status_json(report: StackReport) -> str:
    """The same as data."""
    return json_text(
        {
            "schemaVersion": SCHEMA_VERSION,
            "stack": report.stack,
            "commit": report.update.commit if report.update else None,
            "agents": [_agent(each) for each in report.agents],
            "notChecked": list(report.not_checked),
        }
    )


def _agent(each: AgentReport) -> dict[str, Any]:
    return {
        "name": each.name,
        "namespace": each.namespace,
        "sync": each.sync.value,
        "health": each.health.health.value,
        "reason": each.health.reason,
        "version": {"declared": each.version, "live": each.live_version or None},
        "commit": each.update.commit if each.update else None,
        "updatedAt": each.update.started_at if each.update else None,
        "drift": [
            {
                "severity": finding.severity.value,
                "object": object_document(finding.ref),
                "what": headline(finding),
                "by": [actor_words(actor) for actor in finding.actors],
                "policies": list(finding.policies),
            }
            for finding in each.findings
        ],
    }


def _from(update: UpdateRecord | None) -> str:
    if update is None:
        return "no good update is known"
    dirty = " and files that are not committed" if update.is_dirty else ""
    who = f" by {safe_text(update.operator)}" if update.operator else ""
    return (
        f"commit {update.commit[:12] or 'none'}{dirty}, {update.action}{who}, {update.started_at}"
    )


def _changed_by(update: UpdateRecord | None) -> str:
    if update is None:
        return "last change not known"
    return f"changed by {update.commit[:12] or update.action}, {update.started_at}"


def _finding_lines(finding: Finding) -> list[str]:
    lines = [f"{finding.severity.value}  {finding.ref}  {headline(finding)}"]
    lines += [f"    by {actor_words(actor)}" for actor in finding.actors]
    if finding.policies:
        lines.append(f"    breaks {safe_text(', '.join(finding.policies))}")
    return lines
