"""One agent: all of its parts, in the order in which they must exist."""

from typing import Any, cast

import pulumi

from holdfast.components.arguments import AgentArgs
from holdfast.components.inputs import AgentInputs
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
from holdfast.components.registration import TOKEN, objects_of, plan_of
from holdfast.render import agent as concerns
from holdfast.render.promotion import has_promotion


class Agent(pulumi.ComponentResource):
    """An agent with everything it needs, secure unless told otherwise.

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
        super().__init__(f"{TOKEN}:Agent", name, {}, opts)
        inherited = list(_dependencies(opts))
        # Parts take a plan in place of their typed arguments: it is validated already.
        part_args = cast("Any", plan)
        agent = plan.marks.name
        options = self._options(inherited)
        identity = AgentIdentity(f"{agent}-identity", part_args, options)
        config = AgentConfig(f"{agent}-config", part_args, options)
        storage = AgentStorage(f"{agent}-storage", part_args, options)
        network = AgentNetwork(f"{agent}-network", part_args, options)
        before = [*identity.objects, *config.objects, *storage.objects, *network.objects]
        if any(secret.provider != "kubernetes" for secret in plan.spec.secrets):
            before += AgentSecrets(f"{agent}-secrets", part_args, options).objects
        if has_promotion(plan.spec, plan.surroundings):
            promotion = AgentPromotion(
                f"{agent}-promotion", part_args, self._options([*inherited, *before])
            )
            # A version that does not pass leaves the running one as it is.
            before += promotion.objects
        if plan.spec.backup is not None:
            options = self._options([*inherited, *before])
            before += AgentBackup(f"{agent}-backup", part_args, options).objects
        workload = AgentWorkload(
            f"{agent}-workload", part_args, self._options([*inherited, *before])
        )
        after = self._options([*inherited, *workload.objects])
        AgentScaling(f"{agent}-scaling", part_args, after)
        if objects_of(concerns.monitoring, plan):
            AgentMonitoring(f"{agent}-monitoring", part_args, after)
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

    def _options(self, depends_on: list[pulumi.Resource]) -> pulumi.ResourceOptions:
        standalone = pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)
        return pulumi.ResourceOptions(parent=self, depends_on=depends_on, aliases=[standalone])


def _dependencies(opts: pulumi.ResourceOptions | None) -> list[Any]:
    depends_on = opts.depends_on if opts else None
    if depends_on is None:
        return []
    return list(depends_on) if isinstance(depends_on, list | tuple) else [depends_on]
