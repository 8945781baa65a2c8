"""Where each field of a stack's objects is declared: those of every agent, and namespaces."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from holdfast.errors import SourceLocation
from holdfast.kube.objects import Identity, ObjectRef
from holdfast.kube.paths import Path
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.render.plan.planning import plan_workloads
from holdfast.render.provenance.agent_origins import (
    AgentOrigins,
    FieldOrigin,
    OriginPath,
    objects_of,
    place_of,
)
from holdfast.render.provenance.part_of_fleet import part_for

MOST_AGENTS: Final = 100
"""How many agents are looked into for the places of a report: each takes a few hundred renderings,
some tenths of a second. Of what drifts in more of them, the cause is rarely in a line of each."""


@dataclass(frozen=True)
class Origins:
    """Origins of the objects of one stack; each agent is looked into when first asked about.

    Attributes:
        fleet: What the files declare.
        stack: Name of the stack.
    """

    fleet: Fleet
    stack: str
    _of_agents: dict[tuple[str, str], "AgentOrigins"] = field(
        default_factory=dict, repr=False, compare=False
    )

    def declared_at(self, ref: ObjectRef, path: Path = ()) -> SourceLocation | None:
        """Place that declares a field of an object; None for objects that no agent stands behind.

        After `MOST_AGENTS` agents it is the place of the agent itself, not of its field.

        Args:
            ref: The object.
            path: Field path as findings have it; empty for the whole object. Of a field that is
                not rendered, the place of what is around it.
        """
        agent = self._owners.get(ref.identity)
        if agent is not None and self._would_take_too_long(agent):
            return place_of(agent)
        origin = self.origin_of(ref, path)
        return origin.location if origin else None

    def origin_of(self, ref: ObjectRef, path: Path = ()) -> FieldOrigin | None:
        """The same, with the field of the manifest."""
        if ref.kind == "Namespace":
            return self._of_namespace(ref.name)
        agent = self._owners.get(ref.identity)
        return None if agent is None else self._agent_origins(agent).origin_of(ref, path)

    def leaves_of(self, ref: ObjectRef) -> tuple[Path, ...]:
        """Every leaf of an agent's object, to be asked about one by one.

        Raises:
            KeyError: no agent stands behind the object.
        """
        return self._agent_origins(self._owners[ref.identity]).leaves_of(ref)

    @cached_property
    def _owners(self) -> Mapping[Identity, DeclaredAgent]:
        plans = plan_workloads(self.fleet, self.stack)
        return {
            identity: agent
            for agent, plan in zip(self.fleet.workloads, plans, strict=True)
            for identity in objects_of(plan)
        }

    def _agent_origins(self, agent: DeclaredAgent) -> "AgentOrigins":
        key = (agent.namespace, agent.name)
        if key not in self._of_agents:
            part = part_for(self.fleet, agent)
            self._of_agents[key] = AgentOrigins(part, self.stack, agent)
        return self._of_agents[key]

    def _would_take_too_long(self, agent: DeclaredAgent) -> bool:
        """Whether so many agents were looked into that this one's place has to do for its parts."""
        is_known = (agent.namespace, agent.name) in self._of_agents
        return not is_known and len(self._of_agents) >= MOST_AGENTS

    def _of_namespace(self, name: str) -> FieldOrigin | None:
        inside = (each for each in self.fleet.workloads if each.namespace == name)
        agent = next(inside, None)
        if agent is None:
            return None
        return OriginPath(agent.origin, ("metadata", "namespace")).found
