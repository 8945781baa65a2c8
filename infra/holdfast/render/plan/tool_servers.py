"""Tool servers that a stack runs: who calls them, and what sets them apart from agents."""

from collections.abc import Iterable
from dataclasses import replace

from holdfast.manifest.agent.exposure import Caller, Network
from holdfast.manifest.agent.model import ObjectReference, as_reference
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND
from holdfast.render.plan.dependencies import called_agents
from holdfast.render.plan.plan import AgentPlan

COMPONENT = "mcp-server"
"""Label of its objects, by which policies distinguish the zone of tools from that of agents."""


def with_callers(plans: Iterable[AgentPlan]) -> tuple[AgentPlan, ...]:
    """The plans, each tool server letting in the agents that name it.

    An agent must name its callers. A tool server need not: who may refer to it is said by its
    namespace and `allowedNamespaces`.
    """
    listed = tuple(plans)
    callers: dict[tuple[str, str], list[AgentPlan]] = {}
    for plan in listed:
        for peer in called_agents(plan.meta, plan.spec, plan.context):
            callers.setdefault(peer.place, []).append(plan)
    return tuple(
        _let_in(plan, callers.get(plan.place, ())) if plan.kind == MCP_SERVER_KIND else plan
        for plan in listed
    )


def _let_in(server: AgentPlan, callers: Iterable[AgentPlan]) -> AgentPlan:
    network: Network = server.spec.network
    named = {_place(caller, server) for caller in network.ingress_from}
    added = tuple(
        ObjectReference(namespace=each.meta.namespace, name=each.meta.name)
        for each in sorted(callers, key=lambda each: each.place)
        if each.place not in named
    )
    opened = network.model_copy(update={"ingress_from": (*network.ingress_from, *added)})
    return replace(server, spec=server.spec.model_copy(update={"network": opened}))


def _place(caller: Caller, server: AgentPlan) -> tuple[str, str] | None:
    if isinstance(caller, str | ObjectReference):
        return as_reference(caller, server.meta.namespace)
    return None
