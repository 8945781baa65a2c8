"""One agent to its objects: the concerns in the order in which they are deployed."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.manifest.agent.agent_types import SERVING
from holdfast.render.objects.backup import render_backup
from holdfast.render.objects.failover import with_serving
from holdfast.render.objects.gates import with_attempt
from holdfast.render.objects.identity import render_identity
from holdfast.render.objects.monitoring import render_monitoring
from holdfast.render.objects.network import (
    during_update,
    render_network,
    render_policies,
)
from holdfast.render.objects.promotion import render_promotion
from holdfast.render.objects.sandbox import render_sandbox
from holdfast.render.objects.scaling import render_scaling
from holdfast.render.objects.schedules import render_runs
from holdfast.render.objects.secrets import render_secrets
from holdfast.render.objects.storage import render_storage
from holdfast.render.objects.workload import render_workload
from holdfast.render.plan.metadata import RenderedObject, revised
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.pod.external_content import with_mounted_hash
from holdfast.render.pod.settings import configuration_of, render_settings


def render_agent(plan: AgentPlan) -> tuple[RenderedObject, ...]:
    """Every object of one agent, each with its revision.

    Law: equal plans give equal objects, byte for byte.

    Raises:
        RenderError: the agent needs what is not declared or what the stack does not offer.
    """
    configuration = settings(plan)
    ruled, is_widened = policies(plan), widens_policies(plan)
    return (
        *identity(plan),
        *configuration,
        *secrets(plan),
        *storage(plan),
        *network(plan, ruled),
        *backup(plan, configuration),
        *promotion(plan, configuration),
        *([] if is_widened else ruled),
        *workload(plan, configuration),
        *(ruled if is_widened else []),
        *scaling(plan),
        *monitoring(plan),
    )


def identity(plan: AgentPlan) -> list[RenderedObject]:
    """ServiceAccount, Role, RoleBinding."""
    return _revised(render_identity(plan.meta, plan.spec.pod.security, plan.spec.scaling))


def settings(plan: AgentPlan) -> list[RenderedObject]:
    """ConfigMaps."""
    return _revised(render_settings(plan.meta, plan.spec, plan.context))


def secrets(plan: AgentPlan) -> list[RenderedObject]:
    """What fetches the secrets that live outside the cluster."""
    return _revised(render_secrets(plan.meta, plan.spec, plan.context))


def storage(plan: AgentPlan) -> list[RenderedObject]:
    """PersistentVolumeClaims; none for a pool, whose pods have claims of their own."""
    if plan.spec.is_pooled:
        return []
    spec = plan.spec
    by_job = spec.storage.backup is not None and spec.storage.backup.method == "Job"
    snapshots = {} if by_job else spec.storage.restored
    if spec.storage.restored:
        plan.context.require_all(plan.meta.name, spec, ("storage", "restoreFrom"))
    return _revised(render_storage(plan.meta, spec.storage.volumes, snapshots))


def backup(
    plan: AgentPlan, configuration: Sequence[RenderedObject] | None = None
) -> list[RenderedObject]:
    """Backups by schedule and before the workload changes (configuration rendered if absent)."""
    if plan.spec.storage.backup is None:
        return []
    # Not what the pods mount of others: the scan, which does not read it, must find the same names.
    precedes = workload(replace(plan, mounted_hash=""), configuration)
    rendered = _revised(render_backup(plan.meta, plan.spec, plan.context, precedes))
    return [with_attempt(item, plan.attempts) for item in rendered]


def network(plan: AgentPlan, ruled: Sequence[RenderedObject] | None = None) -> list[RenderedObject]:
    """Service and route, and the policies of an update (from `policies`, rendered if absent)."""
    rendered = _revised(render_network(plan.meta, plan.spec, plan.context))
    if widens_policies(plan):
        rendered += _revised(during_update(policies(plan) if ruled is None else ruled))
    return [with_serving(item, plan.serving) for item in rendered]


def policies(plan: AgentPlan) -> list[RenderedObject]:
    """NetworkPolicy and CiliumNetworkPolicy."""
    return _revised(render_policies(plan.meta, plan.spec, plan.context))


def whole_network(plan: AgentPlan) -> list[RenderedObject]:
    """All of it, for who deploys nothing else of the agent."""
    return [*network(plan), *policies(plan)]


def widens_policies(plan: AgentPlan) -> bool:
    """Whether `policies` change when the workload is healthy, and others hold until then."""
    return plan.spec.type in SERVING


def promotion(
    plan: AgentPlan, configuration: Sequence[RenderedObject] | None = None
) -> list[RenderedObject]:
    """What a new version passes through: the check, analyses, a Service of its own."""
    content = configuration_of(settings(plan) if configuration is None else configuration)
    rendered = _revised(render_promotion(plan.meta, plan.spec, plan.context, content))
    return [with_attempt(item, plan.attempts) for item in rendered]


def workload(
    plan: AgentPlan, configuration: Sequence[RenderedObject] | None = None
) -> list[RenderedObject]:
    """What runs the pods, rolled by the content of their configuration (rendered here if absent).

    Deployment, CronJobs with ScaledJobs, or Sandbox: the agent's type says which.
    """
    content = configuration_of(settings(plan) if configuration is None else configuration)
    render = {"Job": render_runs, "Sandbox": render_sandbox}.get(plan.spec.type, render_workload)
    rendered = _revised(render(plan.meta, plan.spec, plan.context, content))
    return [with_mounted_hash(item, plan.mounted_hash) for item in rendered]


def monitoring(plan: AgentPlan) -> list[RenderedObject]:
    """ServiceMonitor or PodMonitor, and PrometheusRule."""
    return _revised(render_monitoring(plan.meta, plan.spec, plan.context))


def scaling(plan: AgentPlan) -> list[RenderedObject]:
    """HorizontalPodAutoscaler or ScaledObject, and PodDisruptionBudget."""
    return _revised(render_scaling(plan.meta, plan.spec, plan.context))


def _revised(rendered: list[RenderedObject]) -> list[RenderedObject]:
    return [revised(item) for item in rendered]
