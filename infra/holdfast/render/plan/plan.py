"""One agent ready to be rendered: what it carries, what it is, what surrounds it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.manifest.agent.agent import AGENT_KIND, AgentSpec
from holdfast.manifest.types.manifest import Metadata
from holdfast.render.objects.failover import FailoverTarget
from holdfast.render.plan.metadata import AgentMetadata, Provenance
from holdfast.render.plan.render_context import RenderContext


@dataclass(frozen=True)
class AgentPlan:
    """The arguments of every render function, together.

    Attributes:
        mounted_hash: Of the Secrets and ConfigMaps of others that its pods mount; empty when nobody
            has read them.
        serving: Who of primary and standby serves now, where the operator may move that; None
            where nobody has looked, or it does not matter.
        attempts: Job that an update waits for to the mark of its next attempt; empty where the
            cluster was not read.
        kind: MCPServer for a tool server, which is rendered as an agent without model.
        url_path: What the address of a tool server ends in.
    """

    meta: AgentMetadata
    spec: AgentSpec
    context: RenderContext
    mounted_hash: str = ""
    serving: FailoverTarget | None = None
    attempts: Mapping[str, str] = field(default_factory=dict)
    kind: str = AGENT_KIND
    url_path: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.meta.namespace, self.meta.name

    @property
    def url(self) -> str:
        """Where it is asked, inside the cluster; empty where nothing leads to it."""
        if not self.spec.has_service:
            return ""
        address = f"http://{self.meta.name}.{self.meta.namespace}.svc"
        return f"{address}:{self.spec.network.expose.port}{self.url_path}"


def metadata_of(
    metadata: Metadata, spec: AgentSpec, namespace: str, origin: Provenance
) -> AgentMetadata:
    """What the objects of a declared agent carry."""
    return AgentMetadata(
        name=metadata.name,
        namespace=namespace,
        origin=origin,
        version=spec.version,
        owner=spec.owner or "",
        component=spec.framework,
        description=spec.description or "",
        queue=spec.pod.queue_name or "",
        governance=spec.governance,
        labels=metadata.labels,
        annotations=metadata.annotations,
    )
