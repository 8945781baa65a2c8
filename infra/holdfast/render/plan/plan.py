"""One agent ready to be rendered: what it carries, what it is, what surrounds it."""

from dataclasses import dataclass

from holdfast.manifest.agent.agent import AGENT_KIND, AgentSpec
from holdfast.manifest.types.manifest import Metadata
from holdfast.render.objects.failover import Side
from holdfast.render.plan.marks import AgentMarks, Provenance
from holdfast.render.plan.surroundings import Surroundings


@dataclass(frozen=True)
class AgentPlan:
    """The arguments of every render function, together.

    Attributes:
        mounted_hash: Of the Secrets and ConfigMaps of others that its pods mount; empty when nobody
            has looked at them.
        serving: Who of primary and standby serves now, where the operator may move that; None
            where nobody has looked, or it does not matter.
        kind: MCPServer for a tool server, which is rendered as an agent without model.
        url_path: What the address of a tool server ends in.
    """

    marks: AgentMarks
    spec: AgentSpec
    surroundings: Surroundings
    mounted_hash: str = ""
    serving: Side | None = None
    kind: str = AGENT_KIND
    url_path: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.marks.namespace, self.marks.name

    @property
    def url(self) -> str:
        """Where it is asked, inside the cluster; empty where nothing leads to it."""
        if not self.spec.has_service:
            return ""
        address = f"http://{self.marks.name}.{self.marks.namespace}.svc"
        return f"{address}:{self.spec.network.expose.port}{self.url_path}"


def marks_of(metadata: Metadata, spec: AgentSpec, namespace: str, origin: Provenance) -> AgentMarks:
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
        governance=spec.governance,
        labels=metadata.labels,
        annotations=metadata.annotations,
    )
