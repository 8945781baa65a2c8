"""The history of a stack's drift, as text for people."""

from collections.abc import Iterator

from holdfast.drift.record.finding_history import FindingHistory
from holdfast.kube.text import safe_text
from holdfast.operations.describe.history import ScanHistory
from holdfast.report.documents.history import broken_rules
from holdfast.report.text.drift_text import drift_text, summary_line
from holdfast.report.text.finding_words import headline


def history_text(report: ScanHistory, *, in_full: bool, colour: bool = False) -> str:
    """One block a finding, or the last scan as it was reported; ending in a line end."""
    title = f"stack {report.stack}" if report.stack else "history"
    scans = f"{report.scans} scan{'' if report.scans == 1 else 's'}"
    head = f"{title}: {scans}, the last at {report.last.observed_at}\n\n"
    if in_full:
        return head + drift_text(report.last.report, colour=colour) + _state_text(report)
    lines = [line for each in report.in_order for line in _history_lines(each)]
    for alert in report.alerts:
        count = len(alert.findings)
        lines.append(f"alert at {alert.raised_at}: {count} low findings were open")
    lines.append(f"last scan: {summary_line(report.last.report)}")
    return head + "\n".join(lines) + "\n"


def _state_text(report: ScanHistory) -> str:
    """The result of the rules, and how much of the configuration is known."""
    broken = broken_rules(report.last.report)
    lines = [
        f"{safe_text(rule)}: broken by {', '.join(safe_text(one) for one in objects)}"
        for rule, objects in broken.items()
    ]
    rules = "\n".join(["rules newly broken:", *(f"  {line}" for line in lines)])
    objects = len(report.configuration or ())
    known = f"{objects} objects; -o json prints them" if report.configuration else "not recorded"
    return f"{rules if lines else 'rules newly broken: none'}\nconfiguration: {known}\n"


def _history_lines(each: FindingHistory) -> Iterator[str]:
    state = "open" if each.is_open else "closed"
    finding = each.finding
    yield f"{state:<7} {finding.severity:<8} {safe_text(str(finding.ref))}"
    yield f"        {headline(finding)}"
    yield f"        seen {each}, last {each.last_seen}"
    yield ""
