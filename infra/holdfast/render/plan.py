"""One agent ready to be rendered: what it carries, what it is, what surrounds it."""

from dataclasses import dataclass

from holdfast.manifest.agent import AgentSpec, Metadata
from holdfast.render.marks import AgentMarks, Origin
from holdfast.render.surroundings import Surroundings


@dataclass(frozen=True)
class AgentPlan:
    """The arguments of every render function, together.

    Attributes:
        mounted_hash: Of the Secrets and ConfigMaps of others that its pods mount; empty when nobody
            has looked at them.
    """

    marks: AgentMarks
    spec: AgentSpec
    surroundings: Surroundings
    mounted_hash: str = ""


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
        queue=spec.queue_name or "",
        labels=metadata.labels,
        annotations=metadata.annotations,
    )
