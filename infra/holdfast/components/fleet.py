"""All agents of a stack, with the namespaces they live in."""

from dataclasses import replace
from typing import Any, cast

import pulumi

from holdfast.components.agent import Agent
from holdfast.components.arguments import FleetArgs
from holdfast.components.faulty_arguments import validated
from holdfast.components.inputs import FleetInputs
from holdfast.components.registration import TOKEN, KubernetesObject, objects_of, register
from holdfast.render.fleet import FleetPlan, Place, place_of_agent, render_fleet
from holdfast.render.marks import Origin


class Fleet(pulumi.ComponentResource):
    """All agents of a stack.

    Children: one `namespace-<name>` a managed namespace (with `-quota` and `-limits` where the
    environment limits it), and one Agent an agent, under its own
    name; an Agent that a program has declared alone is taken over without being replaced.
    """

    urls: pulumi.Output[dict[str, str]]
    """Agent to its address inside the cluster; empty for one that has no Service."""

    def __init__(
        self, name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = args if isinstance(args, FleetPlan) else _plan_of(name, args)
        # Each part renders its own objects; together they must not claim one name twice.
        objects_of(render_fleet, plan)
        super().__init__(f"{TOKEN}:Fleet", name, {}, opts)
        namespaces: dict[str, KubernetesObject] = {
            item.manifest["metadata"]["name"]: register(item, self)
            for item in plan.namespace_objects()
        }
        for item in plan.limit_objects():
            register(item, self, [namespaces[item.manifest["metadata"]["namespace"]]])
        standalone = pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)
        urls: dict[str, pulumi.Output[str]] = {}
        agents: dict[Place, Agent] = {}
        needs = plan.start_needs()
        for agent in objects_of(FleetPlan.in_start_order, plan):
            place, namespace = place_of_agent(agent), namespaces.get(agent.marks.namespace)
            before: list[pulumi.Resource] = [agents[each] for each in needs[place]]
            options = pulumi.ResourceOptions(
                parent=self,
                depends_on=[*([namespace] if namespace else []), *before],
                aliases=[standalone],
            )
            agents[place] = Agent(agent.marks.name, cast("Any", agent), options)
            urls[agent.marks.name] = agents[place].url
        self.urls = pulumi.Output.all(**urls)
        self.register_outputs({"urls": self.urls})


def declared_fleet(name: str, plan: FleetPlan, opts: pulumi.ResourceOptions | None = None) -> Fleet:
    """The fleet that manifests declare: planned already, so its arguments need no validation."""
    return Fleet(name, cast("FleetArgs", plan), opts)


def _plan_of(name: str, args: FleetArgs) -> FleetPlan:
    inputs = validated(f"Fleet {name}", args, FleetInputs)
    stack = pulumi.get_stack()
    plans = [agent.plan(name, stack) for name, agent in sorted(inputs.agents.items())]
    ports = {place_of_agent(plan): plan.spec.network.expose.port for plan in plans}
    return FleetPlan(
        agents=tuple(
            replace(plan, surroundings=replace(plan.surroundings, ports=ports)) for plan in plans
        ),
        origin=Origin(stack),
        are_namespaces_managed=inputs.namespaces == "managed",
    )
