"""One agent to its objects: the concerns in the order in which they are deployed."""

from collections.abc import Sequence

from holdfast.render.identity import render_identity
from holdfast.render.marks import RenderedObject, revised
from holdfast.render.network import render_network
from holdfast.render.plan import AgentPlan
from holdfast.render.promotion import render_promotion
from holdfast.render.sandboxes import render_sandbox
from holdfast.render.scaling import render_scaling
from holdfast.render.schedules import render_schedules
from holdfast.render.settings import render_settings, settings_hash
from holdfast.render.storage import render_storage
from holdfast.render.workload import render_workload


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
        *storage(plan),
        *network(plan),
        *promotion(plan, configuration),
        *workload(plan, configuration),
        *scaling(plan),
    )


def identity(plan: AgentPlan) -> list[RenderedObject]:
    """ServiceAccount, Role, RoleBinding."""
    return _revised(render_identity(plan.marks, plan.spec.security, plan.spec.lifecycle))


def settings(plan: AgentPlan) -> list[RenderedObject]:
    """ConfigMaps."""
    return _revised(render_settings(plan.marks, plan.spec, plan.surroundings))


def storage(plan: AgentPlan) -> list[RenderedObject]:
    """PersistentVolumeClaims; none for a pool, whose pods have claims of their own."""
    if plan.spec.is_pooled:
        return []
    return _revised(render_storage(plan.marks, plan.spec.storage))


def network(plan: AgentPlan) -> list[RenderedObject]:
    """Service and NetworkPolicy."""
    return _revised(render_network(plan.marks, plan.spec, plan.surroundings))


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

    Deployment, CronJobs or Sandbox: the agent's type says which.
    """
    content = settings_hash(settings(plan) if configuration is None else configuration)
    render = {"Job": render_schedules, "Sandbox": render_sandbox}.get(
        plan.spec.type, render_workload
    )
    return _revised(render(plan.marks, plan.spec, plan.surroundings, content))


def scaling(plan: AgentPlan) -> list[RenderedObject]:
    """HorizontalPodAutoscaler or ScaledObject, and PodDisruptionBudget."""
    return _revised(render_scaling(plan.marks, plan.spec, plan.surroundings))


def _revised(rendered: list[RenderedObject]) -> list[RenderedObject]:
    return [revised(item) for item in rendered]
