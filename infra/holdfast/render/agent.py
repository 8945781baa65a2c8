"""One agent to its objects: the concerns in the order in which they are deployed."""

from holdfast.manifest.agent import AgentSpec, Metadata
from holdfast.render.identity import render_identity
from holdfast.render.marks import AgentMarks, Origin, RenderedObject, with_revision
from holdfast.render.network import render_network
from holdfast.render.scaling import render_scaling
from holdfast.render.settings import render_settings, settings_hash
from holdfast.render.storage import render_storage
from holdfast.render.surroundings import Surroundings
from holdfast.render.workload import render_workload


def marks_of(metadata: Metadata, spec: AgentSpec, namespace: str, origin: Origin) -> AgentMarks:
    """What the objects of a declared agent carry."""
    return AgentMarks(
        name=metadata.name,
        namespace=namespace,
        origin=origin,
        version=spec.version,
        owner=spec.owner or "",
        component=spec.framework,
        description=spec.description or "",
        labels=metadata.labels,
        annotations=metadata.annotations,
    )


def render_agent(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> tuple[RenderedObject, ...]:
    """Every object of one agent, each with its revision.

    Law: equal arguments give equal objects, byte for byte.

    Raises:
        RenderError: the agent needs what is not declared or what the stack does not offer.
    """
    settings = render_settings(marks, spec, surroundings)
    rendered = [
        *render_identity(marks, spec.security),
        *settings,
        *render_storage(marks, spec.storage),
        *render_network(marks, spec, surroundings),
        *render_workload(marks, spec, surroundings, settings_hash(settings)),
        *render_scaling(marks, spec.scaling, spec.availability),
    ]
    return tuple(revised(item) for item in rendered)


def revised(item: RenderedObject) -> RenderedObject:
    """The rendered object with its revision written in."""
    return RenderedObject(
        item.agent, item.role, with_revision(item.manifest), item.is_protected, item.is_retained
    )
