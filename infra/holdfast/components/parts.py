"""The parts of an agent, each usable alone from any program."""

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
from holdfast.components.registration import RenderedComponent, names_of, objects_of, plan_of
from holdfast.render.objects.identity import service_account_name
from holdfast.render.plan import render_agent as concerns


class AgentIdentity(RenderedComponent):
    """The ServiceAccount of an agent's pods, and a Role with RoleBinding for declared rights.

    Children: `<agent>-serviceaccount`, `<agent>-role`, `<agent>-rolebinding`.
    """

    service_account_name: pulumi.Output[str]
    """Name of the ServiceAccount that the pods run as."""

    def __init__(
        self, name: str, args: AgentIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentIdentityInputs)
        super().__init__(name, objects_of(concerns.identity, plan), opts)
        account = service_account_name(plan.marks, plan.spec.security)
        self.service_account_name = pulumi.Output.from_input(account)
        self.register_outputs({"serviceAccountName": self.service_account_name})


class AgentConfig(RenderedComponent):
    """What an agent's process reads: `agent.json`, its prompt, its configuration files.

    Children: `<agent>-config`, `<agent>-prompt`, `<agent>-config-<entry>`.
    """

    config_map_names: pulumi.Output[list[str]]
    """Names of the ConfigMaps; the prompt's changes with its text."""

    def __init__(
        self, name: str, args: AgentConfigArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        rendered = objects_of(concerns.settings, plan_of(name, args, AgentConfigInputs))
        super().__init__(name, rendered, opts)
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
        rendered = objects_of(concerns.secrets, plan_of(name, args, AgentSecretsInputs))
        super().__init__(name, rendered, opts)
        self.secret_names = pulumi.Output.from_input(names_of(rendered, "ExternalSecret"))
        self.register_outputs({"secretNames": self.secret_names})


class AgentStorage(RenderedComponent):
    """Volumes that survive restarts, protected from replacement and deletion.

    Children: `<agent>-claim-<volume>`. A claim with `retain: true` (the default) outlives the
    agent: removing it takes `pulumi state unprotect`, and the data stays in the cluster.
    """

    claim_names: pulumi.Output[list[str]]
    """Names of the claims."""

    def __init__(
        self, name: str, args: AgentStorageArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        rendered = objects_of(concerns.storage, plan_of(name, args, AgentStorageInputs))
        super().__init__(name, rendered, opts)
        self.claim_names = pulumi.Output.from_input(names_of(rendered, "PersistentVolumeClaim"))
        self.register_outputs({"claimNames": self.claim_names})


class AgentNetwork(RenderedComponent):
    """The Service in front of an agent, and the NetworkPolicy that denies what is not declared.

    Children: `<agent>-service`, `<agent>-networkpolicy`.
    """

    url: pulumi.Output[str]
    """Address of the agent inside the cluster; empty for one that has no Service."""

    def __init__(
        self, name: str, args: AgentNetworkArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentNetworkInputs)
        super().__init__(name, objects_of(concerns.network, plan), opts)
        self.url = pulumi.Output.from_input(plan.url)
        self.register_outputs({"url": self.url})


class AgentBackup(RenderedComponent):
    """Backups of an agent's volumes: by schedule, and before its workload changes.

    Children: `<agent>-backup-schedule`, `<agent>-backup-before-rollout`, and what they run as:
    `<agent>-backup-account`, `-role`, `-rolebinding`, `-networkpolicy`. An agent without `backup`
    has none. AgentWorkload of the same agent must depend on it.
    """

    def __init__(
        self, name: str, args: AgentArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, objects_of(concerns.backup, plan_of(name, args, AgentInputs)), opts)
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
        super().__init__(name, objects_of(concerns.promotion, plan), opts)
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
        super().__init__(name, objects_of(concerns.monitoring, plan), opts)
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

    def __init__(
        self, name: str, args: AgentArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        plan = plan_of(name, args, AgentInputs)
        rendered = objects_of(concerns.workload, plan)
        super().__init__(name, rendered, opts)
        self.workload_name = pulumi.Output.from_input(rendered[0].manifest["metadata"]["name"])
        self.register_outputs({"workloadName": self.workload_name})


class AgentScaling(RenderedComponent):
    """The autoscaler of an agent with a range, and its disruption budget.

    Children: `<agent>-autoscaler` or `<agent>-scaledobject`, `<agent>-disruptionbudget` and
    `<agent>-disruptionbudget-standby`.
    """

    def __init__(
        self, name: str, args: AgentScalingArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(
            name,
            objects_of(concerns.scaling, plan_of(name, args, AgentScalingInputs)),
            opts,
        )
        self.register_outputs({})
