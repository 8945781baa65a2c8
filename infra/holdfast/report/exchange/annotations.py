"""Notices as remarks on lines of a change: GitHub workflow commands, GitLab Code Quality."""

from typing import Any, Final

from holdfast.adapters.engine.project import PROJECT_FILE
from holdfast.drift.finding import Severity
from holdfast.report.documents.json_text import json_text
from holdfast.report.exchange.notice import Notice, NoticeReport

_COMMANDS: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "notice",
    Severity.INFO: "notice",
}
_CODE_QUALITY: Final = {
    Severity.CRITICAL: "blocker",
    Severity.HIGH: "critical",
    Severity.MEDIUM: "major",
    Severity.LOW: "minor",
    Severity.INFO: "info",
}
"""Where Code Quality, which demands a file, shows what no manifest declares."""


def github_annotations(report: NoticeReport) -> str:
    """One workflow command a line; GitHub shows each at its line of the change."""
    lines = [_command(notice) for notice in report.notices]
    lines += [
        f"::error title={_property('not checked')}::{_message(f'{item.scope}: {item.reason}')}"
        for item in report.not_checked
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(notice: Notice) -> str:
    place = notice.location
    properties = [f"title={_property(f'{notice.rule}: {notice.ref}')}"]
    if place is not None:
        properties.insert(0, f"file={_property(place.file)}")
        if place.line:
            properties.insert(1, f"line={place.line}")
    by = "; ".join(f"{fact.label} {fact.text}" for fact in notice.facts if fact.label == "by")
    text = f"{notice.headline} [{notice.severity}]" + (f", {by}" if by else "")
    return f"::{_COMMANDS[notice.annotation_severity]} {','.join(properties)}::{_message(text)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def code_quality(report: NoticeReport) -> str:
    """A GitLab Code Quality report: one JSON list, ending in a line end."""
    issues = [_issue(notice) for notice in report.notices]
    issues += [
        {
            "description": f"not checked: {item.scope}: {item.reason}",
            "check_name": "not-checked",
            "fingerprint": f"not-checked/{item.scope}",
            "severity": "blocker",
            "location": {"path": PROJECT_FILE, "lines": {"begin": 1}},
        }
        for item in report.not_checked
    ]
    return json_text(issues)


def _issue(notice: Notice) -> dict[str, Any]:
    place = notice.location
    return {
        "description": f"{notice.ref}: {notice.headline}",
        "check_name": notice.rule,
        "fingerprint": notice.fingerprint,
        "severity": _CODE_QUALITY[notice.annotation_severity],
        "location": {
            "path": place.file if place else PROJECT_FILE,
            "lines": {"begin": (place.line if place else 0) or 1},
        },
    }
