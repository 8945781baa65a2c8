"""One agent, or tool server: all of its parts, in the order in which they must exist."""

from typing import Any, cast

import pulumi

from holdfast.components.arguments import AgentArgs, McpServerArgs
from holdfast.components.inputs import AgentInputs, McpServerInputs
from holdfast.components.parts import (
    AgentBackup,
    AgentConfig,
    AgentIdentity,
    AgentMonitoring,
    AgentNetwork,
    AgentPromotion,
    AgentScaling,
    AgentSecrets,
    AgentStorage,
    AgentWorkload,
)
from holdfast.components.registration import objects_of, plan_of
from holdfast.manifest.publish.component_types import AGENT_TYPE, component_type
from holdfast.render.objects.promotion import has_promotion
from holdfast.render.plan import render_agent as concerns
from holdfast.render.plan.plan import AgentPlan


class Agent(pulumi.ComponentResource):
    """An agent with everything it needs, secure by default.

    Children: `<agent>-identity`, `-config`, `-secrets`, `-storage`, `-network`, `-backup`,
    `-promotion`, `-workload` and `-scaling`, the parts that can also be used alone; a part that a
    program has used alone under that name is taken over without being replaced.
    """

    namespace: pulumi.Output[str]
    """Namespace of its objects."""
    url: pulumi.Output[str]
    """Address inside the cluster; empty for an agent that has no Service."""
    service_account_name: pulumi.Output[str]
    """ServiceAccount that its pods run as."""

    def __init__(
        self, name: str, args: AgentArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentInputs)
        super().__init__(AGENT_TYPE, name, {}, opts)
        network, identity = _parts_of(self, plan, opts)
        self.namespace = pulumi.Output.from_input(plan.marks.namespace)
        self.url = network.url
        self.service_account_name = identity.service_account_name
        self.register_outputs(
            {
                "namespace": self.namespace,
                "url": self.url,
                "serviceAccountName": self.service_account_name,
            }
        )


class McpServer(pulumi.ComponentResource):
    """A tool server that several agents share: closed to all but the agents that name it.

    Children: as an Agent's of the same fields, `<server>-identity`, `-config`, `-secrets`,
    `-network`, `-workload` and `-scaling`. Alone, it lets in whom `network.ingressFrom` names; in a
    Fleet also the agents that refer to it.
    """

    namespace: pulumi.Output[str]
    """Namespace of its objects."""
    url: pulumi.Output[str]
    """Where its tools are asked, inside the cluster."""
    service_account_name: pulumi.Output[str]
    """ServiceAccount that its pods run as."""

    def __init__(
        self, name: str, args: McpServerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, McpServerInputs)
        super().__init__(component_type("McpServer"), name, {}, opts)
        _, identity = _parts_of(self, plan, opts)
        self.namespace = pulumi.Output.from_input(plan.marks.namespace)
        self.url = pulumi.Output.from_input(plan.url)
        self.service_account_name = identity.service_account_name
        self.register_outputs(
            {
                "namespace": self.namespace,
                "url": self.url,
                "serviceAccountName": self.service_account_name,
            }
        )


def _parts_of(
    parent: pulumi.Resource, plan: AgentPlan, opts: pulumi.ResourceOptions | None
) -> tuple[AgentNetwork, AgentIdentity]:
    """Every part of an agent below a component, each after those that it needs."""

    def options(depends_on: list[pulumi.Resource]) -> pulumi.ResourceOptions:
        standalone = pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)
        return pulumi.ResourceOptions(parent=parent, depends_on=depends_on, aliases=[standalone])

    inherited = list(_dependencies(opts))
    # Parts take a plan in place of their typed arguments: it is validated already.
    args = cast("Any", plan)
    agent = plan.marks.name
    first = options(inherited)
    identity = AgentIdentity(f"{agent}-identity", args, first)
    config = AgentConfig(f"{agent}-config", args, first)
    storage = AgentStorage(f"{agent}-storage", args, first)
    network = AgentNetwork(f"{agent}-network", args, first)
    before = [*identity.objects, *config.objects, *storage.objects, *network.objects]
    if any(secret.provider != "kubernetes" for secret in plan.spec.secrets):
        before += AgentSecrets(f"{agent}-secrets", args, first).objects
    if has_promotion(plan.spec, plan.surroundings):
        promotion = AgentPromotion(f"{agent}-promotion", args, options([*inherited, *before]))
        # A version that does not pass leaves the running one as it is.
        before += promotion.objects
    if plan.spec.backup is not None:
        before += AgentBackup(f"{agent}-backup", args, options([*inherited, *before])).objects
    workload = AgentWorkload(f"{agent}-workload", args, options([*inherited, *before]))
    after = options([*inherited, *workload.objects])
    AgentScaling(f"{agent}-scaling", args, after)
    if objects_of(concerns.monitoring, plan):
        AgentMonitoring(f"{agent}-monitoring", args, after)
    return network, identity


def _dependencies(opts: pulumi.ResourceOptions | None) -> list[Any]:
    depends_on = opts.depends_on if opts else None
    if depends_on is None:
        return []
    return list(depends_on) if isinstance(depends_on, list | tuple) else [depends_on]
