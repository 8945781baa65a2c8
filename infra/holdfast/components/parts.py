"""The parts of an agent, each usable alone from any program."""

from collections.abc import Sequence

import pulumi

from holdfast.components.arguments import (
    AgentArgs,
    AgentConfigArgs,
    AgentIdentityArgs,
    AgentMonitoringArgs,
    AgentNetworkArgs,
    AgentScalingArgs,
    AgentSecretsArgs,
    AgentStorageArgs,
)
from holdfast.components.deferred import Deferred
from holdfast.components.inputs import AgentInputs
from holdfast.components.part_inputs import (
    AgentConfigInputs,
    AgentIdentityInputs,
    AgentMonitoringInputs,
    AgentNetworkInputs,
    AgentScalingInputs,
    AgentSecretsInputs,
    AgentStorageInputs,
)
from holdfast.components.references import (
    DeployedObject,
    first_reference_to,
    reference_to,
    references_to,
)
from holdfast.components.registration import RenderedComponent, names_of, plan_of
from holdfast.render.objects.identity import service_account_name
from holdfast.render.plan import render_agent as concerns


class AgentIdentity(RenderedComponent):
    """The ServiceAccount of an agent's pods, and a Role with RoleBinding for declared rights.

    Children: `<agent>-serviceaccount`, `<agent>-role`, `<agent>-rolebinding`.
    """

    service_account_name: pulumi.Output[str]
    """Name of the ServiceAccount that the pods run as."""
    service_account: pulumi.Output[DeployedObject | None]
    """The ServiceAccount; none where the pods run as one that exists already."""

    def __init__(
        self, name: str, args: AgentIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentIdentityInputs)
        super().__init__(name, plan, plan.rendered(concerns.identity), opts)
        self.service_account_name = plan.value(
            lambda known: service_account_name(known.meta, known.spec.pod.security)
        )
        self.service_account = first_reference_to(self.objects, "ServiceAccount")
        self.register_outputs(
            {
                "serviceAccountName": self.service_account_name,
                "serviceAccount": self.service_account,
            }
        )


class AgentConfig(RenderedComponent):
    """What an agent's process reads: `agent.json`, its prompt, its configuration files.

    Children: `<agent>-config`, `<agent>-prompt`, `<agent>-config-<entry>`.
    """

    config_map_names: pulumi.Output[list[str]]
    """Names of the ConfigMaps; the prompt's changes with its text."""

    def __init__(
        self, name: str, args: AgentConfigArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentConfigInputs)
        rendered = plan.rendered(concerns.settings)
        super().__init__(name, plan, rendered, opts)
        self.config_map_names = pulumi.Output.from_input(names_of(rendered, "ConfigMap"))
        self.register_outputs({"configMapNames": self.config_map_names})


class AgentSecrets(RenderedComponent):
    """What fetches an agent's secrets from outside the cluster; no value passes through here.

    Children: `<agent>-externalsecret-<entry>`, `<agent>-secretstore-aws`,
    `<agent>-secretproviderclass-<entry>`. Secrets of the cluster itself need none.
    """

    secret_names: pulumi.Output[list[str]]
    """Names of the ExternalSecrets, and of the Secrets that they fill."""

    def __init__(
        self, name: str, args: AgentSecretsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentSecretsInputs)
        rendered = plan.rendered(concerns.secrets)
        super().__init__(name, plan, rendered, opts)
        self.secret_names = pulumi.Output.from_input(names_of(rendered, "ExternalSecret"))
        self.register_outputs({"secretNames": self.secret_names})


class AgentStorage(RenderedComponent):
    """Volumes that survive restarts, protected from replacement and deletion.

    Children: `<agent>-claim-<volume>`. A claim with `retain: true` (the default) outlives the
    agent: `holdfast up` leaves it in the cluster, `pulumi up` after `pulumi state unprotect`.
    """

    claim_names: pulumi.Output[list[str]]
    """Names of the claims."""
    claims: pulumi.Output[Sequence[DeployedObject]]
    """The claims."""

    def __init__(
        self, name: str, args: AgentStorageArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentStorageInputs)
        rendered = plan.rendered(concerns.storage)
        super().__init__(name, plan, rendered, opts)
        self.claim_names = pulumi.Output.from_input(names_of(rendered, "PersistentVolumeClaim"))
        self.claims = references_to(self.objects, "PersistentVolumeClaim")
        self.register_outputs({"claimNames": self.claim_names, "claims": self.claims})


class AgentNetwork(RenderedComponent):
    """The Service in front of an agent, and the NetworkPolicy that denies what is not declared.

    Children: `<agent>-service`, `<agent>-networkpolicy-during-update`, `<agent>-networkpolicy`.
    Below an Agent, the last one changes when the workload is healthy.
    """

    url: pulumi.Output[str]
    """Address of the agent inside the cluster; empty for one that has no Service."""
    service: pulumi.Output[DeployedObject | None]
    """The Service in front of it; none where nothing is called."""

    def __init__(
        self, name: str, args: AgentNetworkArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentNetworkInputs)
        is_part = isinstance(args, Deferred)
        render = concerns.network if is_part else concerns.whole_network
        super().__init__(name, plan, plan.rendered(render), opts)
        self.url = plan.value(lambda known: known.url)
        self.service = first_reference_to(self.objects, "Service")
        self.register_outputs({"url": self.url, "service": self.service})


class AgentBackup(RenderedComponent):
    """Backups of an agent's volumes: by schedule, and before its workload changes.

    Children: `<agent>-backup-schedule`, `<agent>-backup-before-rollout`, and what they run as:
    `<agent>-backup-account`, `-role`, `-rolebinding`, `-networkpolicy`. An agent without `backup`
    has none. AgentWorkload of the same agent must depend on it.
    """

    def __init__(
        self, name: str, args: AgentArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentInputs)
        super().__init__(name, plan, plan.rendered(concerns.backup), opts)
        self.register_outputs({})


class AgentPromotion(RenderedComponent):
    """What a new version of an agent passes through before it replaces the old one.

    Children: `<agent>-check`, a Job that must succeed before the workload changes; with Argo
    Rollouts `<agent>-analysis-check`, `<agent>-analysis` and `<agent>-service-preview` or
    `-service-canary`. Used alone, it expects what AgentIdentity and AgentConfig declare.
    """

    def __init__(
        self, name: str, args: AgentArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentInputs)
        super().__init__(name, plan, plan.rendered(concerns.promotion), opts)
        self.register_outputs({})


class AgentMonitoring(RenderedComponent):
    """What Prometheus scrapes of an agent, and the alerts on it.

    Children: `<agent>-servicemonitor` or `-podmonitor`, `<agent>-prometheusrule`; none on a stack
    without the Prometheus Operator.
    """

    def __init__(
        self, name: str, args: AgentMonitoringArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentMonitoringInputs)
        super().__init__(name, plan, plan.rendered(concerns.monitoring), opts)
        self.register_outputs({})


class AgentWorkload(RenderedComponent):
    """What runs an agent: a Deployment, CronJobs and ScaledJobs, or a Sandbox, by its type.

    Children: `<agent>-deployment`, `<agent>-deployment-standby` or `<agent>-rollout`;
    `<agent>-schedule-<id>` and `-trigger-<id>`; `<agent>-sandbox`, or `-sandboxtemplate`,
    `-warmpool` and `-sandboxclaim`. Used alone, it expects what AgentIdentity, AgentConfig,
    AgentStorage and AgentPromotion of the same agent declare.
    """

    workload_name: pulumi.Output[str]
    """Name of the Deployment or Sandbox; of the first CronJob or ScaledJob."""
    workload: pulumi.Output[DeployedObject]
    """That object."""

    def __init__(
        self, name: str, args: AgentArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentInputs)
        rendered = plan.rendered(concerns.workload)
        super().__init__(name, plan, rendered, opts)
        self.workload = reference_to(self.objects[0])
        self.workload_name = pulumi.Output.from_input(rendered[0].manifest["metadata"]["name"])
        self.register_outputs({"workloadName": self.workload_name, "workload": self.workload})


class AgentScaling(RenderedComponent):
    """The autoscaler of an agent with a range, and its disruption budget.

    Children: `<agent>-autoscaler` or `<agent>-scaledobject`, `<agent>-disruptionbudget` and
    `<agent>-disruptionbudget-standby`.
    """

    def __init__(
        self, name: str, args: AgentScalingArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentScalingInputs)
        super().__init__(name, plan, plan.rendered(concerns.scaling), opts)
        self.register_outputs({})
