"""One agent to its objects: the concerns in the order in which they are deployed."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.render.objects.backup import render_backup
from holdfast.render.objects.failover import with_serving
from holdfast.render.objects.identity import render_identity
from holdfast.render.objects.monitoring import render_monitoring
from holdfast.render.objects.network import render_network
from holdfast.render.objects.promotion import render_promotion
from holdfast.render.objects.sandbox import render_sandbox
from holdfast.render.objects.scaling import render_scaling
from holdfast.render.objects.schedules import render_runs
from holdfast.render.objects.secrets import render_secrets
from holdfast.render.objects.storage import render_storage
from holdfast.render.objects.workload import render_workload
from holdfast.render.plan.marks import RenderedObject, revised
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.pod.mounted import with_mounted_hash
from holdfast.render.pod.settings import render_settings, settings_hash


def render_agent(plan: AgentPlan) -> tuple[RenderedObject, ...]:
    """Every object of one agent, each with its revision.

    Law: equal plans give equal objects, byte for byte.

    Raises:
        RenderError: the agent needs what is not declared or what the stack does not offer.
    """
    configuration = settings(plan)
    return (
        *identity(plan),
        *configuration,
        *secrets(plan),
        *storage(plan),
        *network(plan),
        *backup(plan, configuration),
        *promotion(plan, configuration),
        *workload(plan, configuration),
        *scaling(plan),
        *monitoring(plan),
    )


def identity(plan: AgentPlan) -> list[RenderedObject]:
    """ServiceAccount, Role, RoleBinding."""
    return _revised(render_identity(plan.marks, plan.spec.security, plan.spec.lifecycle))


def settings(plan: AgentPlan) -> list[RenderedObject]:
    """ConfigMaps."""
    return _revised(render_settings(plan.marks, plan.spec, plan.surroundings))


def secrets(plan: AgentPlan) -> list[RenderedObject]:
    """What fetches the secrets that live outside the cluster."""
    return _revised(render_secrets(plan.marks, plan.spec, plan.surroundings))


def storage(plan: AgentPlan) -> list[RenderedObject]:
    """PersistentVolumeClaims; none for a pool, whose pods have claims of their own."""
    if plan.spec.is_pooled:
        return []
    spec = plan.spec
    by_job = spec.backup is not None and spec.backup.method == "Job"
    snapshots = {} if by_job else spec.restored
    plan.surroundings.require_all(plan.marks.name, spec, ("restoreFrom",))
    return _revised(render_storage(plan.marks, spec.storage, snapshots))


def backup(
    plan: AgentPlan, configuration: Sequence[RenderedObject] | None = None
) -> list[RenderedObject]:
    """Backups by schedule and before the workload changes (configuration rendered if absent)."""
    if plan.spec.backup is None:
        return []
    # Not what the pods mount of others: the scan, which does not read it, must find the same names.
    precedes = workload(replace(plan, mounted_hash=""), configuration)
    return _revised(render_backup(plan.marks, plan.spec, plan.surroundings, precedes))


def network(plan: AgentPlan) -> list[RenderedObject]:
    """Service and NetworkPolicy."""
    rendered = _revised(render_network(plan.marks, plan.spec, plan.surroundings))
    return [with_serving(item, plan.serving) for item in rendered]


def promotion(
    plan: AgentPlan, configuration: Sequence[RenderedObject] | None = None
) -> list[RenderedObject]:
    """What a new version passes through: the check, analyses, a Service of its own."""
    content = settings_hash(settings(plan) if configuration is None else configuration)
    return _revised(render_promotion(plan.marks, plan.spec, plan.surroundings, content))


def workload(
    plan: AgentPlan, configuration: Sequence[RenderedObject] | None = None
) -> list[RenderedObject]:
    """What runs the pods, rolled by the content of their configuration (rendered here if absent).

    Deployment, CronJobs with ScaledJobs, or Sandbox: the agent's type says which.
    """
    content = settings_hash(settings(plan) if configuration is None else configuration)
    render = {"Job": render_runs, "Sandbox": render_sandbox}.get(plan.spec.type, render_workload)
    rendered = _revised(render(plan.marks, plan.spec, plan.surroundings, content))
    return [with_mounted_hash(item, plan.mounted_hash) for item in rendered]


def monitoring(plan: AgentPlan) -> list[RenderedObject]:
    """ServiceMonitor or PodMonitor, and PrometheusRule."""
    return _revised(render_monitoring(plan.marks, plan.spec, plan.surroundings))


def scaling(plan: AgentPlan) -> list[RenderedObject]:
    """HorizontalPodAutoscaler or ScaledObject, and PodDisruptionBudget."""
    return _revised(render_scaling(plan.marks, plan.spec, plan.surroundings))


def _revised(rendered: list[RenderedObject]) -> list[RenderedObject]:
    return [revised(item) for item in rendered]
