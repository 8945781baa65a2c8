"""Agents that belong together, and what they have in common."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from holdfast.manifest.agent.model import Reference
from holdfast.manifest.types.manifest_model import Items, JsonObject
from holdfast.manifest.types.names import LabelName, LabelValue, TeamName
from holdfast.manifest.types.references import RefersTo
from holdfast.manifest.types.rules import Computed, Found, Rule, Ruled, Unique, finds


class AgentTeamSpec(Ruled):
    """A group of agents with one owner; its defaults lie under each member's own fields."""

    RULES = (
        Rule(
            "entry-points-are-members",
            Computed(why_not="a member is a name or a mapping, which CEL cannot read"),
            "entryPoints must be among members",
            remedy="write it as in members",
        ),
        Rule(
            "team-has-one-owner",
            Computed(why_not="defaults are open to the API server"),
            "expected the owner once",
            remedy="remove it from defaults",
        ),
    )

    owner: TeamName | None = None
    """Team that answers for members which name no owner of their own."""
    description: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """What the team is for, at most 1,000 characters."""
    members: Annotated[
        Items[Annotated[Reference, RefersTo("Agent", "member")]], Field(min_length=1), Unique("")
    ]
    """Agents of the team; an agent belongs to one team at most."""
    entry_points: Items[Reference] = ()
    """Members that others call; what they reach is shown by `holdfast render -o mermaid`."""
    namespaces: Annotated[Items[LabelName], Unique("")] = ()
    """Namespaces that are the team's alone: no other team may claim them, nor its agents live
    there."""
    tags: Annotated[Items[LabelValue], Unique("")] = ()
    """Words by which teams are found, shown by `holdfast render -o mermaid`."""
    defaults: JsonObject = Field(default_factory=dict)
    """Part of an agent's spec, merged under each member's: the member's own fields win."""


@finds("entry-points-are-members")
def _strange_entry_points(team: AgentTeamSpec) -> Iterator[Found]:
    for index, entry in enumerate(team.entry_points):
        if entry not in team.members:
            name = entry if isinstance(entry, str) else entry.name
            yield Found(("entryPoints", index), repr(name))


@finds("team-has-one-owner")
def _second_owner(team: AgentTeamSpec) -> Iterator[Found]:
    if team.owner is not None and "owner" in team.defaults:
        yield Found(("defaults", "owner"))
