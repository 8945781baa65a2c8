"""What tool servers say of their tools against what was reviewed. Pure: others ask them."""

from collections.abc import Sequence

from holdfast.drift.finding import Severity
from holdfast.drift.probes.outcome import Outcome, Subject, as_declared, differs, unknown
from holdfast.manifest.fleet.tool_contracts import ToolContract, compare_tools

_WHOLE = frozenset({"added", "removed"})


def judge_tools(
    subject: Subject,
    server: str,
    locked: Sequence[ToolContract] | None,
    live: Sequence[ToolContract] | str,
) -> Outcome:
    """One finding a tool, description or schema that changed.

    Args:
        subject: An agent that may call the server.
        server: Its key in the lock.
        locked: What was reviewed; None when nothing was.
        live: What the server says now, or why it says nothing.
    """
    what = f"tools of {server}"
    if isinstance(live, str):
        return unknown(subject, what, live)
    if locked is None:
        return unknown(subject, what, "nobody has reviewed them: run `holdfast mcp lock`")
    outcomes = []
    for change in compare_tools(locked, live):
        aspect = () if change.aspect in _WHOLE else (change.aspect,)
        path = ("tools", server, change.tool, *aspect)
        outcomes.append(differs(subject, path, change.locked, change.live, Severity.HIGH))
    return Outcome.together(outcomes) if outcomes else as_declared()
