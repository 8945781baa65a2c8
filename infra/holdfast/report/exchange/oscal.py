"""A policy report as OSCAL assessment results (version 1.1.3), which auditors' tools read.

One observation a rule that was asked, one finding a control of NIST SP 800-53 that these serve.
Identifiers are made of what they name, so that the same report gives the same document.

Source: NIST, Open Security Controls Assessment Language, assessment results model.
"""

import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast import __version__
from holdfast.kube.objects import ObjectRef
from holdfast.kube.text import safe_text
from holdfast.operations.policy.model import PolicyFinding, PolicyReport, Verdict, summary_line
from holdfast.report.documents.json_text import json_text
from holdfast.report.exchange.policy_notices import DescribedRule

OSCAL_VERSION: Final = "1.1.3"
_CONTROL: Final = re.compile(r"[A-Z]{2}-\d+")
_NAMES: Final = uuid.uuid5(uuid.NAMESPACE_DNS, "holdfast.dev")
_LONGEST_CHARACTERS: Final = 1000
_UNKNOWN_TIME: Final = "1970-01-01T00:00:00Z"


@dataclass
class _RuleResults:
    """What one rule said."""

    rule: DescribedRule
    passed: list[ObjectRef] = field(default_factory=list)
    findings: list[PolicyFinding] = field(default_factory=list)


def oscal(report: PolicyReport, rules: Sequence[DescribedRule]) -> str:
    """The whole report, one document, ending in a line end.

        A control is satisfied when every rule that serves it passed everywhere and everything was
    checked; a waiver accepts a risk and satisfies nothing.
    """
    time = report.observed_at or _UNKNOWN_TIME
    asked = _asked(report, rules)
    controls = sorted({control for each in asked for control in _controls(each.rule)})
    result: dict[str, Any] = {
        "uuid": _uuid("result", report.identifier, time),
        "title": safe_text(report.title),
        "description": summary_line(report),
        "start": time,
        "end": time,
        "reviewed-controls": {"control-selections": [_selection(controls)]},
    }
    if asked:
        result["observations"] = [_observation(each, time) for each in asked]
    if controls:
        result["findings"] = [_finding(each, asked, report) for each in controls]
    known = {each.rule.id for each in asked} | {rule.id for rule in rules}
    if others := [each for each in report.findings if each.rule not in known]:
        lines = [f"{each.rule}: {each.headline}" for each in others]
        result["remarks"] = safe_text("; ".join(lines))
    document = {
        "assessment-results": {
            "uuid": _uuid("document", report.identifier, time),
            "metadata": {
                "title": safe_text(report.title),
                "last-modified": time,
                "version": __version__,
                "oscal-version": OSCAL_VERSION,
            },
            "import-ap": {"href": "docs/policies/README.md"},
            "results": [result],
        }
    }
    return json_text(document)


def _asked(report: PolicyReport, rules: Iterable[DescribedRule]) -> list[_RuleResults]:
    """The rules that said anything, in the order of their table."""
    asked = {rule.id: _RuleResults(rule) for rule in rules}
    for judged in report.objects:
        for name in judged.passed:
            if name in asked:
                asked[name].passed.append(judged.ref)
    for finding in report.findings:
        if finding.rule in asked:
            asked[finding.rule].findings.append(finding)
    return [each for each in asked.values() if each.passed or each.findings]


def _controls(rule: DescribedRule) -> list[str]:
    """Identifiers as OSCAL's own catalogue has them: `ac-6`."""
    return [name.lower() for name in rule.frameworks if _CONTROL.fullmatch(name)]


def _selection(controls: Sequence[str]) -> dict[str, Any]:
    if not controls:
        return {"include-all": {}}
    return {"include-controls": [{"control-id": control} for control in controls]}


def _observation(asked: _RuleResults, time: str) -> dict[str, Any]:
    lines = [f"{asked.rule.id}: passed by {len(asked.passed)} objects"]
    lines += [
        safe_text(
            f"{each.verdict.value} ({each.level}) by {each.subject}: {each.headline}",
            _LONGEST_CHARACTERS,
        )
        for each in asked.findings
    ]
    refs = dict.fromkeys([*(each.ref for each in asked.findings), *asked.passed])
    return {
        "uuid": _uuid("observation", asked.rule.id),
        "title": asked.rule.id,
        "description": "\n".join(lines),
        "methods": ["TEST"],
        "types": ["control-objective"],
        "subjects": [_subject(ref) for ref in refs],
        "collected": time,
    }


def _subject(ref: ObjectRef) -> dict[str, Any]:
    name = str(ref).strip() or "the stack as a whole"
    return {
        "subject-uuid": _uuid("subject", *ref.identity),
        "type": "resource",
        "title": safe_text(name),
    }


def _finding(control: str, asked: Sequence[_RuleResults], report: PolicyReport) -> dict[str, Any]:
    serving = [each for each in asked if control in _controls(each.rule)]
    against = [finding for each in serving for finding in each.findings]
    is_satisfied = not against and report.is_complete
    if is_satisfied:
        reason = "pass"
    else:
        reason = "fail" if any(each.verdict is Verdict.VIOLATED for each in against) else "other"
    names = ", ".join(each.rule.id for each in serving)
    status: dict[str, Any] = {
        "state": "satisfied" if is_satisfied else "not-satisfied",
        "reason": reason,
    }
    if reason == "other":
        status["remarks"] = _why_open(against)
    return {
        "uuid": _uuid("finding", control),
        "title": control.upper(),
        "description": f"Judged by {names}: {len(against)} findings.",
        "target": {"type": "objective-id", "target-id": control, "status": status},
        "related-observations": [
            {"observation-uuid": _uuid("observation", each.rule.id)} for each in serving
        ],
    }


def _why_open(against: Sequence[PolicyFinding]) -> str:
    if not against:
        return "Not everything was checked."
    words = sorted({each.verdict.value for each in against})
    return f"Nothing was found to break it, but some of it is {' and '.join(words)}."


def _uuid(*parts: str) -> str:
    return str(uuid.uuid5(_NAMES, "\n".join(parts)))
