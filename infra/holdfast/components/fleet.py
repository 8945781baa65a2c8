"""All agents of a stack, with the namespaces they live in."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pulumi

from holdfast.components.admission import declared_admission
from holdfast.components.agent import Agent, McpServer
from holdfast.components.argument_errors import validated
from holdfast.components.arguments import FleetArgs
from holdfast.components.inputs import FleetInputs
from holdfast.components.registration import KubernetesObject, objects_of, register
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.publish.component_types import component_type
from holdfast.render.fleet import FleetPlan, Place, render_fleet
from holdfast.render.plan.marks import Provenance
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.tool_servers import with_callers


class Fleet(pulumi.ComponentResource):
    """All agents of a stack.

    Children: one `namespace-<name>` a managed namespace (with `-quota` and `-limits` where the
    environment limits it), one Agent an agent and one McpServer a tool server, under their own
    names; an Agent that a program has declared alone is taken over without being replaced. Where
    agents are resources of the cluster, one `<agent>-resource` each; where the operator expands
    those, no Agent. Where the stack holds its cluster to its rules, one AdmissionPolicies.
    """

    urls: pulumi.Output[dict[str, str]]
    """Agent or tool server to its address inside the cluster; empty where there is no Service."""

    def __init__(
        self, name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = args if isinstance(args, FleetPlan) else _plan_of(name, args)
        # Each part renders its own objects; together they must not claim one name twice.
        objects_of(render_fleet, plan)
        super().__init__(component_type("Fleet"), name, {}, opts)
        namespaces: dict[str, KubernetesObject] = {
            item.manifest["metadata"]["name"]: register(item, self)
            for item in plan.namespace_objects()
        }
        for item in plan.limit_objects():
            register(item, self, [namespaces[item.manifest["metadata"]["namespace"]]])
        if plan.admission:
            declared_admission(plan.admission, pulumi.ResourceOptions(parent=self))
        agents = self._register_agents(plan, namespaces)
        self._register_resources(plan, namespaces, agents)
        urls = {agent.marks.name: agent.url for agent in plan.agents}
        self.urls = pulumi.Output.all(
            **urls | {name: agent.url for (_, name), agent in agents.items()}
        )
        self.register_outputs({"urls": self.urls})

    def _register_resources(
        self,
        plan: FleetPlan,
        namespaces: Mapping[str, KubernetesObject],
        agents: Mapping[Place, Agent | McpServer],
    ) -> None:
        """Agents as resources: after their objects, for they are to go before those do.

        A controller of the stack must not recreate what an update removes.
        """
        shared: list[pulumi.Resource] = []
        for item in plan.resource_objects():
            metadata = item.manifest["metadata"]
            namespace = namespaces.get(metadata["namespace"])
            before: list[pulumi.Resource] = [namespace] if namespace else []
            if item.agent:
                deployed = agents.get((metadata["namespace"], item.agent))
                register(item, self, [*before, *shared, *([deployed] if deployed else [])])
            else:
                shared.append(register(item, self, before))

    def _register_agents(
        self, plan: FleetPlan, namespaces: Mapping[str, KubernetesObject]
    ) -> dict[Place, Agent | McpServer]:
        standalone = pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)
        agents: dict[Place, Agent | McpServer] = {}
        needs = plan.start_needs()
        for agent in objects_of(FleetPlan.in_start_order, plan):
            if plan.resource_mode == "expand" and agent.kind != MCP_SERVER_KIND:
                continue
            place, namespace = agent.place, namespaces.get(agent.marks.namespace)
            before: list[pulumi.Resource] = [
                agents[each] for each in needs[place] if each in agents
            ]
            options = pulumi.ResourceOptions(
                parent=self,
                depends_on=[*([namespace] if namespace else []), *before],
                aliases=[standalone],
            )
            made = McpServer if agent.kind == MCP_SERVER_KIND else Agent
            agents[place] = made(agent.marks.name, cast("Any", agent), options)
        return agents


def declared_fleet(name: str, plan: FleetPlan, opts: pulumi.ResourceOptions | None = None) -> Fleet:
    """The fleet that manifests declare: planned already, so its arguments need no validation."""
    return Fleet(name, cast("FleetArgs", plan), opts)


def _plan_of(name: str, args: FleetArgs) -> FleetPlan:
    inputs = validated(f"Fleet {name}", args, FleetInputs)
    stack = pulumi.get_stack()
    agents = [agent.plan(name, stack) for name, agent in sorted(inputs.agents.items())]
    servers = [server.plan(name, stack) for name, server in sorted(inputs.mcp_servers.items())]
    known = {
        server.plan(name, stack).place: server.shared_spec
        for name, server in inputs.mcp_servers.items()
    }
    ports = {plan.place: plan.spec.network.expose.port for plan in agents}
    return FleetPlan(
        agents=with_callers(_among(plan, ports, known) for plan in (*agents, *servers)),
        origin=Provenance(stack),
        are_namespaces_managed=inputs.namespaces == "managed",
    )


def _among(
    plan: AgentPlan, ports: Mapping[Place, int], servers: Mapping[Place, McpServerSpec]
) -> AgentPlan:
    """An agent's plan that knows the other agents and the tool servers of its fleet."""
    around = plan.surroundings
    around = replace(around, ports=ports, servers={**around.servers, **servers})
    return replace(plan, surroundings=around)
