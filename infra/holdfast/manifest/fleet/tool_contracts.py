"""What a tool server promises: its instructions and its tools, as they were reviewed.

A model acts on the instructions of a server and on the descriptions of its tools, and a client on a
tool's annotations: what changes there is a changed program, and no image digest shows it.

Source: Model Context Protocol, `Tool` and `ToolAnnotations` of 2025-06-18 to 2026-07-28.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from holdfast.kube.objects import canonical_json

Aspect = Literal[
    "added",
    "removed",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "instructions",
]
_ASPECTS: Final[tuple[Aspect, ...]] = (
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
)
HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""What a tool may say of its effects: each is true, false, or not said."""


@dataclass(frozen=True, slots=True)
class ToolContract:
    """One tool as a server describes it.

    Attributes:
        name: What agents call it by.
        description: What the model reads; empty when the server gives none.
        input_schema: JSON Schema of its arguments.
        title: What people are shown; empty when the server gives none.
        output_schema: JSON Schema of its results; None when the server gives none.
        annotations: What it says of its effects; empty when it says nothing.
    """

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The tool in the protocol's own words; what a server does not say is absent."""
        said: dict[str, Any] = {"name": self.name}
        if self.title:
            said["title"] = self.title
        said |= {"description": self.description, "inputSchema": dict(self.input_schema)}
        if self.output_schema is not None:
            said["outputSchema"] = dict(self.output_schema)
        if self.annotations:
            said["annotations"] = dict(self.annotations)
        return said

    @property
    def hints(self) -> dict[str, bool]:
        """Those of its annotations that say something of its effects."""
        return {
            name: self.annotations[name]
            for name in HINTS
            if isinstance(self.annotations.get(name), bool)
        }

    @property
    def is_destructive(self) -> bool | None:
        """Whether it may destroy, by its annotations; None where they do not say.

        A tool that says both, or only that it writes, may destroy: so the protocol has it.
        """
        hints = self.hints
        if hints.get("destructiveHint"):
            return True
        if hints.get("readOnlyHint") or hints.get("destructiveHint") is False:
            return False
        return True if "readOnlyHint" in hints else None


@dataclass(frozen=True, slots=True)
class ServerContract:
    """One server as it describes itself.

    Attributes:
        tools: Sorted by name.
        instructions: What it tells models about itself; empty when it says nothing.
    """

    tools: tuple[ToolContract, ...] = ()
    instructions: str = ""

    @classmethod
    def of(cls, tools: Iterable[ToolContract], instructions: str = "") -> "ServerContract":
        """The contract of tools in any order."""
        return cls(tuple(sorted(tools, key=lambda tool: tool.name)), instructions)

    @property
    def digest(self) -> str:
        """`sha256:<64 hex digits>` over the tools and, where there are any, the instructions.

        Law: the order of the tools does not matter, any other change does.
        """
        listed: Any = [tool.as_json() for tool in sorted(self.tools, key=lambda tool: tool.name)]
        if self.instructions:
            listed = {"instructions": self.instructions, "tools": listed}
        return f"sha256:{hashlib.sha256(canonical_json(listed)).hexdigest()}"


@dataclass(frozen=True, slots=True)
class ToolChange:
    """One difference between what was reviewed and what a server says now.

    Attributes:
        tool: Name of the tool; empty for the server's instructions.
        aspect: What differs; a tool that came or went differs as a whole.
        locked: The reviewed text, schema, annotations or tool; None for what was added.
        live: What the server says now; None for what was removed.
    """

    tool: str
    aspect: Aspect
    locked: Any
    live: Any


def compare_contracts(locked: ServerContract, live: ServerContract) -> tuple[ToolChange, ...]:
    """What a server says now against what was reviewed, sorted by tool.

    Law: there is no change exactly when both have one digest.
    """
    changes: list[ToolChange] = []
    if locked.instructions != live.instructions:
        changed = (locked.instructions or None, live.instructions or None)
        changes.append(ToolChange("", "instructions", *changed))
    before = {tool.name: tool for tool in locked.tools}
    after = {tool.name: tool for tool in live.tools}
    for name in sorted(before.keys() | after.keys()):
        changes += _changes_of(name, before.get(name), after.get(name))
    return tuple(changes)


def _changes_of(
    name: str, old: ToolContract | None, new: ToolContract | None
) -> Iterator[ToolChange]:
    before = old.as_json() if old else None
    after = new.as_json() if new else None
    if before is None or after is None:
        yield ToolChange(name, "removed" if before else "added", before, after)
        return
    for aspect in _ASPECTS:
        was, now = before.get(aspect), after.get(aspect)
        if canonical_json(was) != canonical_json(now):
            yield ToolChange(name, aspect, was, now)
