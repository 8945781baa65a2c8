"""The updates of a stack as JSON, `holdfast.dev/updates/v1`."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.report.documents.json_text import json_text
from holdfast.report.documents.parts import Count, Part

SCHEMA_VERSION: Final = "holdfast.dev/updates/v1"


class UpdatePart(Part):
    """One update; the keys are those of `UpdateRecord`.

    Attributes:
        agents: Agents of which an object was changed; null when that is not known.
        kept: Objects that left the stack and stay in the cluster: kind, name, version, uid.
    """

    identifier: str
    action: str
    outcome: str
    commit: str
    is_dirty: bool
    dirty_reason: str
    author: str
    author_time: str
    pull_request: str
    operator: str
    policy: str
    reason: str
    detail: str
    proof: str
    started_at: str
    seconds: Annotated[float, Meta(ge=0)]
    changes: dict[str, Count]
    agents: list[str] | None
    kept: list[str]


class ChangedUpdatePart(UpdatePart):
    """One update.

    Attributes:
        changed: Whether it changed the agent that is named; null when that is not known.
    """

    changed: bool | UnsetType | None = UNSET


class UpdatesDocument(Part):
    """What `holdfast history -o json` prints.

    Attributes:
        updates: The newest first.
        agent: Whose updates are wanted.
    """

    schema_version: Literal["holdfast.dev/updates/v1"]
    stack: str
    updates: list[ChangedUpdatePart]
    agent: str | UnsetType = UNSET


def updates_json(stack: str, records: Sequence[UpdateRecord], agent: str = "") -> str:
    """One document, the newest update first, ending in a line end.

    Args:
        stack: Whose updates they are.
        records: The updates, oldest first.
        agent: Where one is named, each update says whether it changed it.
    """
    updates = [ChangedUpdatePart.copy_of(each) for each in records]
    if agent:
        for each in updates:
            each.changed = None if each.agents is None else agent in each.agents
    return json_text(UpdatesDocument(SCHEMA_VERSION, stack, updates[::-1], agent or UNSET))
