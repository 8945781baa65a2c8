"""All agents of a stack, with the namespaces they live in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pulumi

from holdfast.components.admission import declared_admission
from holdfast.components.agent import Agent, McpServer
from holdfast.components.arguments import FleetArgs
from holdfast.components.deferred import Deferred, deferred
from holdfast.components.inputs import FleetInputs
from holdfast.components.registration import KubernetesObject, register
from holdfast.components.resolved import objects_of
from holdfast.kube.objects import NamespacedName
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.publish.component_types import component_type
from holdfast.render.fleet import FleetPlan, render_fleet
from holdfast.render.objects.admission import AdmissionPlan
from holdfast.render.objects.stack_declaration import DEPLOYED_ROLE
from holdfast.render.plan.metadata import Provenance, RenderedObject
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
        plan = args if isinstance(args, Deferred) else _plan_of(name, args)
        # Each part renders its own objects; together they must not claim one name twice.
        objects_of(render_fleet, plan.known)
        super().__init__(component_type("Fleet"), name, dict(plan.inputs), opts)
        namespaces = self._register_namespaces(plan)
        if plan.known.admission:
            declared_admission(plan.map(_admission_of), pulumi.ResourceOptions(parent=self))
        # Resources stand only in the plans of manifests, where no output does.
        resources = list(plan.known.resource_objects())
        declared = [register(resources.pop(0), self)] if resources else []
        agents = self._register_agents(plan, namespaces, declared)
        self._register_resources(resources, namespaces, agents, declared)
        urls: dict[str, pulumi.Input[str]] = {
            agent.meta.name: agent.url for agent in plan.known.agents
        }
        self.urls = pulumi.Output.all(
            **urls | {name: agent.url for (_, name), agent in agents.items()}
        )
        self.register_outputs({"urls": self.urls})

    def _register_namespaces(self, plan: Deferred[FleetPlan]) -> dict[str, KubernetesObject]:
        """The namespaces that the fleet declares, with their limits, by name."""
        namespaces = {
            item.manifest["metadata"]["name"]: register(item, self)
            for item in plan.rendered(FleetPlan.namespace_objects)
        }
        for item in plan.rendered(FleetPlan.limit_objects):
            register(item, self, [namespaces[item.manifest["metadata"]["namespace"]]])
        return namespaces

    def _register_resources(
        self,
        items: Sequence[RenderedObject],
        namespaces: Mapping[str, KubernetesObject],
        agents: Mapping[NamespacedName, Agent | McpServer],
        declared: Sequence[pulumi.Resource],
    ) -> None:
        """Agents as resources: after their objects, for they are to go before those do.

        A controller of the stack must not recreate what an update removes. The declaration comes
        before every object, and the mark that all of it is deployed after all of them.
        """
        shared: list[pulumi.Resource] = []
        last: list[pulumi.Resource] = [*agents.values()]
        for item in items:
            metadata = item.manifest["metadata"]
            namespace = namespaces.get(metadata.get("namespace", ""))
            before: list[pulumi.Resource] = [*declared, *([namespace] if namespace else [])]
            if item.agent:
                deployed = agents.get((metadata["namespace"], item.agent))
                own = [*before, *shared, *([deployed] if deployed else [])]
                last.append(register(item, self, own))
            elif item.role == DEPLOYED_ROLE:
                register(item, self, [*shared, *last])
            else:
                shared.append(register(item, self, before))

    def _register_agents(
        self,
        plan: Deferred[FleetPlan],
        namespaces: Mapping[str, KubernetesObject],
        declared: Sequence[pulumi.Resource],
    ) -> dict[NamespacedName, Agent | McpServer]:
        standalone = pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)
        agents: dict[NamespacedName, Agent | McpServer] = {}
        needs = plan.known.start_needs()
        indices = {agent.place: index for index, agent in enumerate(plan.known.agents)}
        for agent in objects_of(FleetPlan.in_start_order, plan.known):
            if plan.known.resource_mode == "expand" and agent.kind != MCP_SERVER_KIND:
                continue
            place, namespace = agent.place, namespaces.get(agent.meta.namespace)
            before: list[pulumi.Resource] = [
                agents[each] for each in needs[place] if each in agents
            ]
            options = pulumi.ResourceOptions(
                parent=self,
                depends_on=[*declared, *([namespace] if namespace else []), *before],
                aliases=[standalone],
            )
            made = McpServer if agent.kind == MCP_SERVER_KIND else Agent
            its_plan = replace(
                plan.map(partial(_agent_of, index=indices[place])),
                inputs=_inputs_of(plan, agent),
            )
            agents[place] = made(agent.meta.name, cast("Any", its_plan), options)
        return agents


def declared_fleet(name: str, plan: FleetPlan, opts: pulumi.ResourceOptions | None = None) -> Fleet:
    """The fleet that manifests declare: planned already, so its arguments need no validation."""
    return Fleet(name, cast("FleetArgs", Deferred({0: plan})), opts)


def _agent_of(plan: FleetPlan, index: int) -> AgentPlan:
    return plan.agents[index]


def _inputs_of(plan: Deferred[FleetPlan], agent: AgentPlan) -> Mapping[str, Any]:
    """What the arguments of a fleet say of one agent or tool server; manifests say it in files."""
    field = "mcpServers" if agent.kind == MCP_SERVER_KIND else "agents"
    found: Mapping[str, Any] = plan.inputs.get(field, {}).get(agent.meta.name, {})
    return found


def _admission_of(plan: FleetPlan) -> AdmissionPlan:
    assert plan.admission is not None  # noqa: S101 - asked only where there is one
    return plan.admission


def _plan_of(name: str, args: FleetArgs) -> Deferred[FleetPlan]:
    stack = pulumi.get_stack()

    def plan(inputs: FleetInputs, has_outputs: bool) -> FleetPlan:
        return _fleet_of(inputs, name, Provenance(stack, has_outputs=has_outputs))

    return deferred(f"Fleet {name}", args, FleetInputs, plan)


def _fleet_of(inputs: FleetInputs, name: str, origin: Provenance) -> FleetPlan:
    agents = [agent.plan(name, origin) for name, agent in sorted(inputs.agents.items())]
    servers = [server.plan(name, origin) for name, server in sorted(inputs.mcp_servers.items())]
    known = {
        server.plan(name, origin).place: server.shared_spec
        for name, server in inputs.mcp_servers.items()
    }
    ports = {plan.place: plan.spec.network.expose.port for plan in agents}
    return FleetPlan(
        agents=with_callers(_among(plan, ports, known) for plan in (*agents, *servers)),
        origin=Provenance(origin.stack),
        are_namespaces_managed=inputs.namespaces == "managed",
    )


def _among(
    plan: AgentPlan,
    ports: Mapping[NamespacedName, int],
    servers: Mapping[NamespacedName, McpServerSpec],
) -> AgentPlan:
    """An agent's plan that knows the other agents and the tool servers of its fleet."""
    around = plan.context
    around = replace(around, ports=ports, servers={**around.servers, **servers})
    return replace(plan, context=around)
