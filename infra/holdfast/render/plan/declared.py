"""A declared fleet to plans: every reference of an agent looked up among the others."""

from collections.abc import Collection
from dataclasses import replace

from holdfast.manifest.fleet.fleet import DeclaredAgent, DeclaredMcpServer, Fleet, server_as_agent
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, McpServer, ModelConfig
from holdfast.render.fleet import FleetPlan
from holdfast.render.objects.admission import admission_of
from holdfast.render.objects.agent_resources import render_shared_resources
from holdfast.render.plan.marks import Provenance
from holdfast.render.plan.plan import AgentPlan, marks_of
from holdfast.render.plan.surroundings import Surroundings
from holdfast.render.plan.tool_servers import COMPONENT, with_callers


def plan_fleet(fleet: Fleet, stack: str, left_out: Collection[tuple[str, str]] = ()) -> FleetPlan:
    """Everything that rendering a stack needs, from what its files declare.

    Its agents are the fleet's `workloads`, in their order.

    Args:
        fleet: What is declared.
        stack: Name of the stack.
        left_out: Namespace and name of agents that cannot be rendered; others may call them.
    """
    mode = fleet.environment.agent_resources.mode
    plan = FleetPlan(
        agents=plan_workloads(fleet, stack, left_out),
        origin=Provenance(stack),
        are_namespaces_managed=fleet.environment.namespaces == "managed",
        are_namespaces_protected=fleet.environment.profile_for(stack) != "dev",
        namespace_limits=fleet.environment.namespace_limits,
        resource_mode=mode,
        shared_resources=render_shared_resources(fleet, stack) if mode != "off" else (),
    )
    return replace(plan, admission=admission_of(fleet, stack, plan.namespaces))


def plan_workloads(
    fleet: Fleet, stack: str, left_out: Collection[tuple[str, str]] = ()
) -> tuple[AgentPlan, ...]:
    """Plans of the fleet's `workloads` alone, in their order; arguments as of `plan_fleet`."""
    surroundings = Surroundings(
        fleet.environment,
        models={(each.namespace, each.name): each.spec for each in fleet.of(ModelConfig)},
        servers={(each.namespace, each.name): each.spec for each in fleet.of(McpServer)},
        ports={(each.namespace, each.name): each.spec.network.expose.port for each in fleet.agents},
    )
    agents = (
        _plan(each, surroundings, stack)
        for each in fleet.agents
        if (each.namespace, each.name) not in left_out
    )
    servers = (_plan_server(each, surroundings, stack) for each in fleet.hosted_servers)
    return with_callers((*agents, *servers))


def _plan(declared: DeclaredAgent, surroundings: Surroundings, stack: str) -> AgentPlan:
    origin = Provenance(stack, declared.source)
    marks = marks_of(declared.agent.metadata, declared.spec, declared.namespace, origin)
    return AgentPlan(marks, declared.spec, surroundings)


def _plan_server(server: DeclaredMcpServer, surroundings: Surroundings, stack: str) -> AgentPlan:
    plan = _plan(server_as_agent(server), surroundings, stack)
    return replace(
        plan,
        marks=replace(plan.marks, component=COMPONENT),
        kind=MCP_SERVER_KIND,
        url_path=server.spec.effective_path,
    )
