"""A declared fleet to plans: every reference of an agent looked up among the others."""

from holdfast.manifest.fleet import DeclaredAgent, Fleet
from holdfast.render.fleet import FleetPlan
from holdfast.render.marks import Origin
from holdfast.render.plan import AgentPlan, marks_of
from holdfast.render.surroundings import Surroundings


def plan_fleet(fleet: Fleet, stack: str) -> FleetPlan:
    """Everything that rendering a stack needs, from what its files declare."""
    surroundings = Surroundings(
        fleet.environment,
        models={(each.namespace, each.name): each.spec for each in fleet.model_configs},
        servers={(each.namespace, each.name): each.spec for each in fleet.mcp_servers},
        ports={(each.namespace, each.name): each.spec.network.expose.port for each in fleet.agents},
    )
    return FleetPlan(
        agents=tuple(_plan_agent(agent, surroundings, stack) for agent in fleet.agents),
        origin=Origin(stack),
        are_namespaces_managed=fleet.environment.namespaces == "managed",
        are_namespaces_protected=fleet.environment.profile_for(stack) != "dev",
        namespace_limits=fleet.environment.namespace_limits,
    )


def _plan_agent(declared: DeclaredAgent, surroundings: Surroundings, stack: str) -> AgentPlan:
    origin = Origin(stack, declared.source)
    marks = marks_of(declared.agent.metadata, declared.spec, declared.namespace, origin)
    return AgentPlan(marks, declared.spec, surroundings)
