"""The history of a stack as text: its drift, its updates, the commit of one object."""

from collections.abc import Iterator, Sequence

from holdfast.adapters.engine.state.kept_objects import named_in
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.record.finding_history import FindingHistory
from holdfast.kube.text import counted, safe_text
from holdfast.operations.deploy.object_provenance import ObjectProvenance
from holdfast.operations.deploy.recorder import changes_in_words
from holdfast.operations.describe.history import HistoryReport
from holdfast.report.documents.history import broken_rules
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.updates import updates_json
from holdfast.report.text.drift_text import drift_text, summary_line
from holdfast.report.text.finding_text import headline


def history_text(report: HistoryReport, *, in_full: bool, colour: bool = False) -> str:
    """One block a finding, or the last scan as it was reported; ending in a line end."""
    title = f"stack {report.stack}" if report.stack else "history"
    scans = counted(report.scans, "scan")
    head = f"{title}: {scans}, the last at {report.last.observed_at}\n\n"
    if in_full:
        return head + drift_text(report.last.report, colour=colour) + _state_text(report)
    lines = [line for each in report.in_order for line in _history_lines(each)]
    for alert in report.alerts:
        count = len(alert.findings)
        lines.append(f"alert at {alert.raised_at}: {count} low findings were open")
    lines.append(f"last scan: {summary_line(report.last.report)}")
    return head + "\n".join(lines) + "\n"


def _state_text(report: HistoryReport) -> str:
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


def updates_text(records: Sequence[UpdateRecord]) -> str:
    """One block an update, the newest first; ending in a line end."""
    blocks = ["\n".join(_update_lines(record)) for record in reversed(records)]
    return "\n\n".join(blocks) + "\n" if blocks else "no update is recorded\n"


def update_result(record: UpdateRecord, output: str) -> str:
    """What one update came to: a document for the output `json`, else a line; with its end."""
    if output == "json":
        return updates_json(record.stack, [record])
    commit = record.commit[:12] or "no commit"
    dirty = f" and files that are not committed ({record.dirty_reason})" if record.is_dirty else ""
    return (
        f"{record.stack} is at {commit}{dirty}: {changes_in_words(record.changes)}, "
        f"{record.seconds:g} s{f'; {record.proof}' if record.proof else ''}\n"
    )


def _update_lines(record: UpdateRecord) -> list[str]:
    agents = "" if record.agents is None else ", ".join(record.agents)
    if record.is_action:
        about = f"  {agents}" if agents else ""
        return [
            f"{record.started_at}  {record.action}{about}  {record.outcome}",
            *_facts(operator=record.operator, reason=record.reason, detail=record.detail),
        ]
    commit = record.commit[:12] or "no commit"
    dirty = " (dirty)" if record.is_dirty else ""
    lines = [f"{record.started_at}  {record.action}  {commit}{dirty}  {record.outcome}"]
    facts = {
        "author": f"{record.author}, {record.author_time}".strip(", "),
        "pull request": record.pull_request,
        "operator": record.operator,
        "policy": record.policy,
        "reason": record.reason,
        "dirty because": record.dirty_reason,
        "changed": changes_in_words(record.changes) + (f" of {agents}" if agents else ""),
        "kept": ", ".join(str(each.reference) for each in named_in(record.kept)),
        "proof": record.proof,
        "detail": record.detail if record.detail != record.proof else "",
    }
    return lines + _facts(**facts)


def _facts(**facts: str) -> list[str]:
    return [f"  {name + ':':<15} {safe_text(text)}" for name, text in facts.items() if text]


def object_provenance_json(named: str, found: ObjectProvenance) -> str:
    """The result as one document; the commit is null where none is known.

    Args:
        named: The object as it was asked for.
        found: Where it comes from.
    """
    update = found.update
    return json_text(
        {
            "object": named,
            "revision": found.revision,
            "commit": update.commit if update else None,
            "author": update.author if update else None,
            "updatedAt": update.started_at if update else None,
        }
    )


def object_provenance_text(found: ObjectProvenance) -> str:
    """Two lines; empty where no commit is known."""
    if found.update is None:
        return ""
    return (
        f"{found.ref} is revision {found.revision}: commit {found.update.commit}\n"
        f"  by {found.update.author}, first brought there at {found.update.started_at}\n"
    )
