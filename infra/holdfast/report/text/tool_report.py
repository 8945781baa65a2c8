"""Results of `holdfast mcp lock` and `holdfast mcp check`, as text and as JSON."""

import difflib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from holdfast.kube.text import safe_text
from holdfast.manifest.fleet.tool_contracts import ToolChange
from holdfast.manifest.fleet.tool_lock import LOCK_FILE, ToolLock
from holdfast.operations.scan.probing.endpoints import Answer
from holdfast.operations.scan.tool_review import CheckedServer, LockedTools
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/tools/v1"
_LONGEST_LINE_CHARACTERS: Final = 2000
_CLAIMS: Final = (
    ("destructive by their annotations", True),
    ("not destructive by their annotations", False),
    ("not annotated", None),
)
"""A server may lie about its tools: who reviews them reads what it says."""


def lock_text(locked: LockedTools) -> str:
    """What each server has answered, a line a server, and whether the file has changed."""
    lines = [line for each in locked.answers for line in _answer_lines(each, locked.lock)]
    if locked.is_written:
        lines.append(f"wrote {LOCK_FILE}: read it before you commit it")
    return "".join(f"{line}\n" for line in lines)


def _answer_lines(answer: Answer, lock: ToolLock) -> Iterator[str]:
    key = answer.server.key
    if answer.contract is None:
        yield f"error: {key}: {answer.error}"
        return
    server = lock.servers[key]
    yield f"{key}: {len(server.tools)} tools, {server.digest}"
    for claim, is_destructive in _CLAIMS:
        named = [tool.name for tool in server.tools if tool.is_destructive is is_destructive]
        if named:
            yield safe_text(f"  {claim}: {', '.join(named)}", _LONGEST_LINE_CHARACTERS)
    for place, digest in answer.server.digests:
        if digest != server.digest:
            yield f"{place}: write this digest here, it says {digest}"


def tool_text(servers: Sequence[CheckedServer]) -> str:
    """One block a server that changed or could not be asked; empty when all are as reviewed."""
    lines = [line for each in servers for line in _lines_of(each)]
    return "".join(f"{safe_text(line, _LONGEST_LINE_CHARACTERS)}\n" for line in lines)


def tool_summary(servers: Sequence[CheckedServer]) -> str:
    """How many servers are as reviewed, in a line without its end."""
    failed = sum(bool(each.error) for each in servers)
    changed = sum(not each.error and each.is_changed for each in servers)
    return (
        f"{len(servers)} tool servers: {len(servers) - failed - changed} as reviewed, "
        f"{changed} changed, {failed} not checked"
    )


def tool_json(servers: Sequence[CheckedServer]) -> str:
    """The whole report, one document, ending in a line end."""
    document = {
        "schemaVersion": SCHEMA_VERSION,
        "servers": [
            {
                "server": each.server,
                "url": each.url,
                "digest": each.digest,
                "reviewed": each.is_locked,
                "error": each.error,
                "changes": [
                    {
                        "tool": change.tool,
                        "aspect": change.aspect,
                        "reviewed": change.locked,
                        "live": change.live,
                    }
                    for change in each.changes
                ],
            }
            for each in servers
        ],
    }
    return json_text(document)


def _lines_of(each: CheckedServer) -> Iterator[str]:
    if each.error:
        yield f"{each.server}: not checked: {each.error}"
    if not each.is_locked and not each.error:
        yield f"{each.server}: never reviewed; run 'holdfast mcp lock {each.server}'"
    for change in each.changes:
        if change.aspect == "instructions":
            yield f"{each.server}: {change.aspect} changed"
        elif change.aspect in {"added", "removed"}:
            yield f"{each.server}: tool {change.tool!r} {change.aspect}"
        else:
            yield f"{each.server}: {change.aspect} of tool {change.tool!r} changed"
        yield from _difference(change)


def _difference(change: ToolChange) -> Iterator[str]:
    before, after = _shown(change.locked), _shown(change.live)
    compared = difflib.unified_diff(before, after, lineterm="", n=1)
    for line in compared:
        if not line.startswith(("---", "+++", "@@")):
            yield f"  {line[:1]} {line[1:]}"


def _shown(value: Any) -> list[str]:  # noqa: ANN401 - a description, a schema, a tool or nothing
    if value is None:
        return []
    if isinstance(value, str):
        return value.split("\n")
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).split("\n")
