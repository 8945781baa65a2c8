"""A declared fleet to plans: every reference of an agent looked up among the others."""

from collections.abc import Collection
from dataclasses import replace

from holdfast.manifest.fleet.fleet import DeclaredAgent, DeclaredMcpServer, Fleet, server_as_agent
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND, McpServer, ModelConfig
from holdfast.render.fleet import FleetPlan
from holdfast.render.objects.admission import admission_of
from holdfast.render.objects.agent_resources import render_shared_resources
from holdfast.render.plan.metadata import Provenance
from holdfast.render.plan.plan import AgentPlan, metadata_of
from holdfast.render.plan.render_context import RenderContext
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
    context = RenderContext(
        fleet.environment,
        models={(each.namespace, each.name): each.spec for each in fleet.of(ModelConfig)},
        servers={(each.namespace, each.name): each.spec for each in fleet.of(McpServer)},
        ports={(each.namespace, each.name): each.spec.network.expose.port for each in fleet.agents},
        contracts=fleet.tool_lock.servers,
    )
    agents = (
        _plan(each, context, stack)
        for each in fleet.agents
        if (each.namespace, each.name) not in left_out
    )
    servers = (_plan_server(each, context, stack) for each in fleet.hosted_servers)
    return with_callers((*agents, *servers))


def _plan(declared: DeclaredAgent, context: RenderContext, stack: str) -> AgentPlan:
    origin = Provenance(stack, declared.source)
    meta = metadata_of(declared.agent.metadata, declared.spec, declared.namespace, origin)
    return AgentPlan(meta, declared.spec, context)


def _plan_server(server: DeclaredMcpServer, context: RenderContext, stack: str) -> AgentPlan:
    plan = _plan(server_as_agent(server), context, stack)
    return replace(
        plan,
        meta=replace(plan.meta, component=COMPONENT),
        kind=MCP_SERVER_KIND,
        url_path=server.spec.effective_path,
    )
