"""Agents that belong together, and what they have in common."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from holdfast.manifest.agent.model import Reference
from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.references import RefersTo
from holdfast.manifest.types.values import Items, JsonObject, LabelName, LabelValue, ManifestModel


class AgentTeamSpec(ManifestModel):
    """A group of agents with one owner; its defaults lie under each member's own fields."""

    owner: LabelValue | None = None
    """Team that answers for members which name no owner of their own."""
    description: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """What the team is for, at most 1,000 characters."""
    members: Annotated[
        Items[Annotated[Reference, RefersTo("Agent", "member")]], Field(min_length=1)
    ]
    """Agents of the team; an agent belongs to one team at most."""
    entry_points: Items[Reference] = ()
    """Members that others call; what they reach is shown by `holdfast render -o mermaid`."""
    namespaces: Items[LabelName] = ()
    """Namespaces that are the team's alone: no other team may claim them, nor its agents live
    there."""
    tags: Items[LabelValue] = ()
    """Words by which teams are found, shown by `holdfast render -o mermaid`."""
    defaults: JsonObject = Field(default_factory=dict)
    """Part of an agent's spec, merged under each member's: the member's own fields win."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for field, entries in (
            ("tags", self.tags),
            ("members", self.members),
            ("namespaces", self.namespaces),
        ):
            seen: list[object] = []
            for index, entry in enumerate(entries):
                if entry in seen:
                    raise fault(f"entries of {field} must be unique", at=(field, index))
                seen.append(entry)
        for index, entry in enumerate(self.entry_points):
            if entry not in self.members:
                raise fault(
                    "entryPoints must be among members",
                    found=repr(entry if isinstance(entry, str) else entry.name),
                    remedy="write it as in members",
                    at=("entryPoints", index),
                )
        if self.owner is not None and "owner" in self.defaults:
            expected = "expected the owner once"
            raise fault(expected, remedy="remove it from defaults", at=("defaults", "owner"))
        return self
