"""What `holdfast mcp check` found, as text for people and JSON for programs."""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from holdfast.kube.text import safe_text
from holdfast.manifest.fleet.tool_contracts import ToolChange
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/tools/v1"
_LONGEST_LINE_CHARACTERS: Final = 2000


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """One tool server, asked or not.

    Attributes:
        server: What it is called in the lock.
        url: Address that was asked.
        digest: Digest over its tools as they are now; empty when it could not be asked.
        is_locked: Whether its tools were ever reviewed.
        changes: What differs from what was reviewed.
        error: Why it could not be asked; empty when it could.
    """

    server: str
    url: str
    digest: str = ""
    is_locked: bool = True
    changes: tuple[ToolChange, ...] = ()
    error: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether its tools are others than those that were reviewed, or none were."""
        return bool(self.changes) or not self.is_locked


def tool_text(servers: Sequence[CheckedServer]) -> str:
    """One block a server that changed or could not be asked; empty when all are as reviewed."""
    lines = [line for each in servers for line in _lines_of(each)]
    return "".join(f"{safe_text(line, _LONGEST_LINE_CHARACTERS)}\n" for line in lines)


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
        if change.aspect in {"added", "removed"}:
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
