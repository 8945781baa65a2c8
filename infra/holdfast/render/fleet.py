"""A whole fleet to its objects."""

from dataclasses import dataclass

from holdfast.render.agent import render_agent
from holdfast.render.marks import Origin, RenderedObject, revised
from holdfast.render.namespaces import render_namespaces
from holdfast.render.plan import AgentPlan


@dataclass(frozen=True)
class FleetPlan:
    """All agents of a stack, ready to be rendered.

    Attributes:
        agents: Sorted by name.
        are_namespaces_managed: Whether the stack declares the agents' namespaces.
    """

    agents: tuple[AgentPlan, ...]
    origin: Origin
    are_namespaces_managed: bool = True

    def namespace_objects(self) -> tuple[RenderedObject, ...]:
        """The namespaces that the stack declares; none when they exist already."""
        if not self.are_namespaces_managed:
            return ()
        names = {agent.marks.namespace for agent in self.agents}
        return tuple(revised(item) for item in render_namespaces(names, self.origin))


def render_fleet(plan: FleetPlan) -> tuple[RenderedObject, ...]:
    """Every object of a stack: namespaces first, then agent by agent.

    Law: equal plans give equal objects, byte for byte, whatever the order of the files.
    """
    return (
        *plan.namespace_objects(),
        *(item for agent in plan.agents for item in render_agent(agent)),
    )
