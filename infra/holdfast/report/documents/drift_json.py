"""The drift report as JSON: the output contract `holdfast.dev/drift/v1`."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from holdfast.drift.finding import (
    Actor,
    AgentState,
    AgentStatus,
    Cause,
    DriftReport,
    ExpectedBy,
    Finding,
    IgnoredBy,
)
from holdfast.drift.rollup import by_team
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import format_path
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/drift/v1"


def drift_json(report: DriftReport) -> str:
    """The whole report, one document, ending in a line end."""
    return json_text(drift_document(report))


def drift_document(report: DriftReport) -> dict[str, Any]:
    """The whole report as plain data."""
    document: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "complete": report.is_complete,
        "notChecked": [{"scope": item.scope, "reason": item.reason} for item in report.not_checked],
        "findings": [finding_json(finding) for finding in report.findings],
    }
    if report.causes:
        document["causes"] = [_cause(each) for each in report.causes]
    if report.agents:
        document["agents"] = _agents(report.agents)
    if report.ignored:
        document["ignored"] = [_ignored(each) for each in report.ignored]
    if report.layers:
        document["layers"] = [
            {"name": layer.name, "ran": layer.has_run, "detail": layer.detail}
            for layer in report.layers
        ]
    return document


def _cause(each: Cause) -> dict[str, Any]:
    return {
        "summary": each.summary,
        "remedy": each.remedy,
        "findings": [
            {"object": object_document(finding.ref), "path": format_path(finding.path)}
            for finding in each.findings
        ],
    }


def _agents(agents: Sequence[AgentStatus]) -> dict[str, Any]:
    """How many are in which state, in all and by team; by name only those that are not in sync."""
    states = Counter(each.state for each in agents)
    return {
        "counts": {state.value: states[state] for state in AgentState},
        "teams": {
            team: {state.value: counted[state] for state in AgentState}
            for team, counted in sorted(by_team(agents).items())
        },
        "notSynced": [
            {
                "name": each.name,
                "team": each.team,
                "state": each.state.value,
                "findings": each.findings,
            }
            for each in agents
            if each.state is not AgentState.SYNCED
        ],
    }


def _ignored(each: IgnoredBy) -> dict[str, Any]:
    return {
        "rule": str(each.location),
        "reason": each.reason,
        "owner": each.owner,
        "expires": each.expires.isoformat() if each.expires else "",
        "matches": len(each.findings),
        "findings": [
            {
                "object": object_document(finding.ref),
                "class": finding.drift_class.value,
                "path": format_path(finding.path),
                "severity": finding.severity.value,
            }
            for finding in each.findings
        ],
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding, as it stands in the report."""
    about = {"about": "record"} if finding.expected_by is ExpectedBy.RECORD else {}
    return about | {
        "object": object_document(finding.ref),
        "agent": finding.agent,
        "class": finding.drift_class.value,
        "path": format_path(finding.path),
        "desired": finding.desired,
        "live": finding.live,
        "severity": finding.severity.value,
        "policies": list(finding.policies),
        "actors": [_actor(actor) for actor in finding.actors],
        "seenBy": list(finding.seen_by),
        **({"nextUpdate": finding.next_update.value} if finding.next_update else {}),
    }


def object_document(ref: ObjectRef) -> dict[str, str]:
    """A reference to an object as plain data."""
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
    }


def _actor(actor: Actor) -> dict[str, str]:
    """Who; the words of the audit log only where there are some."""
    request = {
        "verb": actor.verb,
        "userAgent": actor.user_agent,
        "sourceAddress": actor.source_address,
    }
    return {
        "manager": actor.manager,
        "operation": actor.operation,
        "subresource": actor.subresource,
        "time": actor.time,
        "user": actor.user,
        "source": actor.source.value,
        **{name: text for name, text in request.items() if text},
    }
