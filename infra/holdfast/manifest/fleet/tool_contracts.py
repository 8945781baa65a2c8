"""What a tool server promises: names, descriptions and input schemas, as they were reviewed.

A model acts on a tool's description: a changed one is a changed program, and
no image digest shows it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.kube.objects import canonical_json

Aspect = Literal["added", "removed", "description", "inputSchema"]


@dataclass(frozen=True, slots=True)
class ToolContract:
    """One tool as a server describes it.

    Attributes:
        name: What agents call it by.
        description: What the model reads; empty when the server gives none.
        input_schema: JSON Schema of its arguments.
    """

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The tool in the protocol's own words."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": dict(self.input_schema),
        }


@dataclass(frozen=True, slots=True)
class ToolChange:
    """One difference between what was reviewed and what a server says now.

    Attributes:
        tool: Name of the tool.
        aspect: What differs; a tool that came or went differs as a whole.
        locked: The reviewed description, schema or tool; None for one that was added.
        live: What the server says now; None for one that was removed.
    """

    tool: str
    aspect: Aspect
    locked: Any
    live: Any


def tools_digest(tools: Iterable[ToolContract]) -> str:
    """`sha256:<64 hex digits>` over name, description and input schema of tools sorted by name.

    Law: the order of the tools does not matter, any other change does.
    """
    listed = [tool.as_json() for tool in sorted(tools, key=lambda tool: tool.name)]
    return f"sha256:{hashlib.sha256(canonical_json(listed)).hexdigest()}"


def compare_tools(
    locked: Iterable[ToolContract], live: Iterable[ToolContract]
) -> tuple[ToolChange, ...]:
    """What a server says now against what was reviewed, sorted by tool.

    Law: there is no change exactly when both have one digest.
    """
    before = {tool.name: tool for tool in locked}
    after = {tool.name: tool for tool in live}
    changes: list[ToolChange] = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            aspect: Aspect = "removed" if old else "added"
            changes.append(ToolChange(name, aspect, old and old.as_json(), new and new.as_json()))
            continue
        if old.description != new.description:
            changes.append(ToolChange(name, "description", old.description, new.description))
        if canonical_json(dict(old.input_schema)) != canonical_json(dict(new.input_schema)):
            changes.append(
                ToolChange(name, "inputSchema", dict(old.input_schema), dict(new.input_schema))
            )
    return tuple(changes)
