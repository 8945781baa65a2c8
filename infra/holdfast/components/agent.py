"""One agent, or tool server: all of its parts, in the order in which they must exist."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import pulumi

from holdfast.components.arguments import AgentArgs, McpServerArgs
from holdfast.components.deferred import Deferred
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
from holdfast.components.references import DeployedObject
from holdfast.components.registration import KubernetesObject, plan_of, register
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
    workload: pulumi.Output[DeployedObject]
    """What runs it: a Deployment, Rollout or Sandbox; the first CronJob or ScaledJob of a Job."""
    service: pulumi.Output[DeployedObject | None]
    """The Service in front of it; none where nothing calls it."""
    claims: pulumi.Output[Sequence[DeployedObject]]
    """Its claims; without those that existed already."""
    service_account: pulumi.Output[DeployedObject | None]
    """The ServiceAccount; none where its pods run as one that exists already."""
    labels: pulumi.Output[dict[str, str]]
    """Labels of its pods."""
    selector: pulumi.Output[dict[str, str]]
    """Those of them that select the pods which serve; no update changes them."""

    def __init__(
        self, name: str, args: AgentArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentInputs)
        super().__init__(AGENT_TYPE, name, dict(plan.inputs), opts)
        parts = _parts_of(self, plan, opts)
        self.namespace = plan.value(lambda known: known.meta.namespace)
        self.url = parts.network.url
        self.service_account_name = parts.identity.service_account_name
        self.workload = parts.workload.workload
        self.service = parts.network.service
        self.claims = parts.storage.claims
        self.service_account = parts.identity.service_account
        self.labels = plan.value(lambda known: known.meta.object_labels())
        self.selector = plan.value(lambda known: known.meta.selector())
        self.register_outputs(
            {
                "namespace": self.namespace,
                "url": self.url,
                "serviceAccountName": self.service_account_name,
                "workload": self.workload,
                "service": self.service,
                "claims": self.claims,
                "serviceAccount": self.service_account,
                "labels": self.labels,
                "selector": self.selector,
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
    workload: pulumi.Output[DeployedObject]
    """The Deployment."""
    service: pulumi.Output[DeployedObject | None]
    """The Service in front of it."""
    service_account: pulumi.Output[DeployedObject | None]
    """The ServiceAccount."""
    labels: pulumi.Output[dict[str, str]]
    """Labels of its pods."""
    selector: pulumi.Output[dict[str, str]]
    """Those of them that select the pods which serve; no update changes them."""

    def __init__(
        self, name: str, args: McpServerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, McpServerInputs)
        super().__init__(component_type("McpServer"), name, dict(plan.inputs), opts)
        parts = _parts_of(self, plan, opts)
        self.namespace = plan.value(lambda known: known.meta.namespace)
        self.url = plan.value(lambda known: known.url)
        self.service_account_name = parts.identity.service_account_name
        self.workload = parts.workload.workload
        self.service = parts.network.service
        self.service_account = parts.identity.service_account
        self.labels = plan.value(lambda known: known.meta.object_labels())
        self.selector = plan.value(lambda known: known.meta.selector())
        self.register_outputs(
            {
                "namespace": self.namespace,
                "url": self.url,
                "serviceAccountName": self.service_account_name,
                "workload": self.workload,
                "service": self.service,
                "serviceAccount": self.service_account,
                "labels": self.labels,
                "selector": self.selector,
            }
        )


class _Parts(NamedTuple):
    """The parts of an agent that others refer to."""

    identity: AgentIdentity
    network: AgentNetwork
    storage: AgentStorage
    workload: AgentWorkload


def _parts_of(
    parent: pulumi.Resource, plan: Deferred[AgentPlan], opts: pulumi.ResourceOptions | None
) -> _Parts:
    """Every part of an agent below a component, each after those that it needs."""

    def options(depends_on: list[pulumi.Resource]) -> pulumi.ResourceOptions:
        standalone = pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)
        return pulumi.ResourceOptions(parent=parent, depends_on=depends_on, aliases=[standalone])

    inherited = list(_dependencies(opts))
    # Parts take a plan in place of their typed arguments: it is validated already, and recorded.
    args, known = cast("Any", replace(plan, inputs={})), plan.known
    agent = known.meta.name
    first = options(inherited)
    identity = AgentIdentity(f"{agent}-identity", args, first)
    config = AgentConfig(f"{agent}-config", args, first)
    storage = AgentStorage(f"{agent}-storage", args, first)
    network = AgentNetwork(f"{agent}-network", args, first)
    before = [*identity.objects, *config.objects, *storage.objects, *network.objects]
    if any(secret.provider != "kubernetes" for secret in known.spec.secrets):
        before += AgentSecrets(f"{agent}-secrets", args, first).objects
    if has_promotion(known.spec, known.context):
        promotion = AgentPromotion(f"{agent}-promotion", args, options([*inherited, *before]))
        # A version that does not pass leaves the running one as it is.
        before += promotion.objects
    if known.spec.storage.backup is not None:
        before += AgentBackup(f"{agent}-backup", args, options([*inherited, *before])).objects
    is_widened = concerns.widens_policies(known)
    if not is_widened:
        before += _policies(network, plan, before)
    workload = AgentWorkload(f"{agent}-workload", args, options([*inherited, *before]))
    after = options([*inherited, *workload.objects])
    if is_widened:
        _policies(network, plan, workload.objects)
    AgentScaling(f"{agent}-scaling", args, after)
    if plan.rendered(concerns.monitoring):
        AgentMonitoring(f"{agent}-monitoring", args, after)
    return _Parts(identity, network, storage, workload)


def _policies(
    network: AgentNetwork, plan: Deferred[AgentPlan], depends_on: Iterable[pulumi.Resource]
) -> list[KubernetesObject]:
    """The policies that hold after an update, as children of the agent's network."""
    rendered = plan.rendered(concerns.policies)
    return [register(item, network, list(depends_on)) for item in rendered]


def _dependencies(opts: pulumi.ResourceOptions | None) -> list[Any]:
    depends_on = opts.depends_on if opts else None
    if depends_on is None:
        return []
    return list(depends_on) if isinstance(depends_on, list | tuple) else [depends_on]
