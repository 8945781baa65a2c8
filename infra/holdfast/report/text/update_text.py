"""The updates of a stack, as text for people."""

from collections.abc import Sequence

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.kube.text import safe_text
from holdfast.operations.deploy.recorder import changes_in_words


def updates_text(records: Sequence[UpdateRecord]) -> str:
    """One block an update, the newest first; ending in a line end."""
    blocks = ["\n".join(_lines(record)) for record in reversed(records)]
    return "\n\n".join(blocks) + "\n" if blocks else "no update is recorded\n"


def update_line(record: UpdateRecord) -> str:
    """What one update came to, in a line without its end."""
    commit = record.commit[:12] or "no commit"
    dirty = f" and files that are not committed ({record.dirty_reason})" if record.is_dirty else ""
    return (
        f"{record.stack} is at {commit}{dirty}: {changes_in_words(record.changes)}, "
        f"{record.seconds:g} s"
    )


def _lines(record: UpdateRecord) -> list[str]:
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
        "proof": record.proof,
        "detail": record.detail if record.detail != record.proof else "",
    }
    return lines + _facts(**facts)


def _facts(**facts: str) -> list[str]:
    return [f"  {name + ':':<15} {safe_text(text)}" for name, text in facts.items() if text]
