"""The part of a fleet in which one of its agents is rendered as in the whole. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from pydantic import BaseModel

from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, McpServer, ModelConfig

_SHARED: Final = {McpServer.KIND, ModelConfig.KIND}


def part_for(fleet: Fleet, agent: DeclaredAgent) -> Fleet:
    """The agent, all that its manifest or the stack names, and the callers of a tool server.

    Rendering an agent thousands of times, each with another value, takes as long as the fleet is
    large unless the others are left out. A name counts wherever it stands: too much stays rather
    than too little.

    Args:
        fleet: All that is declared.
        agent: One of its workloads.
    """
    # Overrides are merged in already, and name every agent.
    settings = fleet.environment.model_copy(update={"agents": {}})
    names = {*_names_in(agent.agent), *_names_in(settings)}
    is_server = agent.kind == MCP_SERVER_KIND

    def is_near(other: DeclaredAgent) -> bool:
        is_caller = is_server and agent.name in set(_names_in(other.agent))
        return other.origin is agent.origin or other.name in names or is_caller

    return replace(
        fleet,
        agents=tuple(each for each in fleet.agents if is_near(each)),
        companions=tuple(
            each
            for each in fleet.companions
            if each.kind not in _SHARED
            or each.name in names
            or (is_server and each.origin is agent.origin)
        ),
    )


def _names_in(value: object) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _names_in(getattr(value, name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _names_in(key)
            yield from _names_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _names_in(item)
