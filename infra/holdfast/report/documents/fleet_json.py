"""A fleet as JSON: the output contract `holdfast.dev/fleet/v1`, all that its page shows."""

from typing import Any, Final

from holdfast.drift.finding import AgentState, Severity
from holdfast.kube.workload_status import Health
from holdfast.operations.describe.fleet import (
    FleetAgent,
    FleetReport,
    FleetStack,
    OpenDrift,
    open_drift,
)
from holdfast.operations.policy.heat_map import HeatMap
from holdfast.report.documents.drift_json import finding_json
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.policy_json import policy_finding_json
from holdfast.report.text.fleet_words import verdict_of
from holdfast.report.text.graph_text import graph_document
from holdfast.report.text.update_text import update_document

SCHEMA_VERSION: Final = "holdfast.dev/fleet/v1"


def fleet_json(report: FleetReport) -> str:
    """The whole report, one document, ending in a line end."""
    verdict, source = verdict_of(report.stacks), report.source
    return json_text(
        {
            "schemaVersion": SCHEMA_VERSION,
            "project": report.project,
            "madeAt": report.made_at,
            "complete": report.is_complete,
            "verdict": {"word": verdict.word, "sentence": verdict.sentence},
            "source": None
            if source is None
            else {
                "commit": source.commit.name,
                "author": source.commit.author,
                "authorTime": source.commit.author_time,
                "subject": source.commit.subject,
                "changedFiles": list(source.changed),
            },
            "stacks": [_stack(stack) for stack in report.stacks],
        }
    )


def _stack(stack: FleetStack) -> dict[str, Any]:
    drift = open_drift(stack.drift, stack.context)
    return {
        "name": stack.name,
        "cluster": stack.cluster,
        "profile": stack.profile,
        "lookedAt": stack.looked_at,
        "observedAt": stack.context.observed_at,
        "notChecked": [{"scope": each.scope, "reason": each.reason} for each in stack.not_checked],
        "counts": {
            "sync": {each.value: stack.sync[each] for each in AgentState},
            "health": {each.value: stack.health[each] for each in Health},
            "drift": {
                each.value: stack.severities[each]
                for each in Severity
                if each.rank < Severity.INFO.rank
            },
            "policy": {
                "refused": stack.refused,
                "warned": stack.warned,
                "passed": stack.policy.passed,
                "newlyBroken": stack.newly_broken,
            },
        },
        "agents": [_agent(each) for each in stack.agents],
        "drift": [_drift(each, stack) for group in drift.values() for each in group],
        "policy": [policy_finding_json(each) for each in stack.policy.findings],
        "heatMap": _heat_map(stack.heat_map()),
        "topology": graph_document(stack.graph),
        "updates": [update_document(each) for each in reversed(stack.updates)],
    }


def _agent(each: FleetAgent) -> dict[str, Any]:
    replicas = each.replicas
    return {
        "name": each.name,
        "namespace": each.namespace,
        "type": each.type,
        "team": each.team,
        "owner": each.owner,
        "version": {"declared": each.version, "live": each.live_version or None},
        "model": {"provider": each.provider, "name": each.model_name},
        "replicas": {
            "fewest": replicas.fewest,
            "most": replicas.most,
            "desired": replicas.desired,
            "ready": replicas.ready,
        },
        "sync": each.sync.value,
        "health": each.health.health.value,
        "reason": each.health.reason,
        "concerns": list(each.concerns),
        "drift": {
            "findings": len(each.drift),
            "worst": each.worst.value if each.worst else None,
            "since": each.oldest.since if each.oldest else None,
        },
        "policy": dict(sorted(each.policy.items())),
        "commit": each.update.commit if each.update else None,
        "updatedAt": each.update.started_at if each.update else None,
    }


def _drift(each: OpenDrift, stack: FleetStack) -> dict[str, Any]:
    place, seen = stack.context.location_of(each.finding), each.sighting
    return {
        **finding_json(each.finding),
        "since": seen.since if seen else None,
        "ageSeconds": seen.age_seconds if seen else None,
        "timesSeen": seen.count if seen else None,
        "declaredAt": {"file": place.file, "line": place.line, "column": place.column}
        if place
        else None,
    }


def _heat_map(made: HeatMap) -> dict[str, Any]:
    return {
        "agents": list(made.agents),
        "agentsLeftOut": made.left_out,
        "rules": [
            {
                "rule": row.rule,
                "cells": [{"state": each.state, "count": each.count} for each in row.cells],
            }
            for row in made.rows
        ],
    }
