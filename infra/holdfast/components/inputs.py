"""Inputs of the components, validated: the manifest's own fields, and the agent's context.

The typed dictionaries that callers see (`arguments.py`) are generated from these models.
"""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.governance import Governance
from holdfast.manifest.agent.model import ModelConfigSpec
from holdfast.manifest.kinds.kinds import MCP_SERVER_KIND
from holdfast.manifest.kinds.mcp_server import HostedServer, McpServerSpec
from holdfast.manifest.stack.admission import AdmissionSettings
from holdfast.manifest.stack.environment import Environment, Profile
from holdfast.manifest.types.manifest_model import Items, JsonObject, ManifestModel
from holdfast.manifest.types.names import AgentName, LabelName, LabelValue, QualifiedKey
from holdfast.manifest.types.values import ImageReference, Semver
from holdfast.render.objects.admission import AdmissionPlan, judged_by
from holdfast.render.plan.metadata import AgentMetadata, Provenance
from holdfast.render.plan.plan import AgentPlan
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.plan.tool_servers import COMPONENT


class ObjectMetaInputs(ManifestModel):
    """Where something's objects live, and what they carry."""

    namespace: LabelName
    """Namespace of its objects."""
    labels: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels put on every object, never into selectors."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations put on every object."""


class AgentRef(ObjectMetaInputs):
    """The agent that a part belongs to."""

    name: AgentName
    """Name of the agent."""
    version: Semver = "0.0.0"
    """The agent's own version."""
    owner: LabelValue | None = None
    """Team that answers for it."""
    governance: Governance = Governance.model_construct()
    """Decisions that the policy pack asks for."""
    framework: LabelValue = "custom"
    """What it is written with."""
    description: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """What it is for."""
    queue_name: LabelName | None = None
    """Kueue LocalQueue that its pods wait in."""

    def meta(self, origin: Provenance) -> AgentMetadata:
        """What the agent's objects carry."""
        return AgentMetadata(
            name=self.name,
            namespace=self.namespace,
            origin=origin,
            version=self.version,
            owner=self.owner or "",
            component=self.framework,
            description=self.description or "",
            queue=self.queue_name or "",
            governance=self.governance,
            labels=self.labels,
            annotations=self.annotations,
        )


class SharedObjects(ManifestModel):
    """What agents share and what the stack offers."""

    environment: Environment = Environment.model_construct()
    """Settings of the stack: gateways, DNS, telemetry."""
    model_configs: dict[LabelName, ModelConfigSpec] = Field(default_factory=dict)
    """Models that model.ref may name, in the agent's namespace."""
    mcp_servers: dict[LabelName, McpServerSpec] = Field(default_factory=dict)
    """Tool servers that serverRef may name, in the agent's namespace."""

    def context(self, namespace: str) -> RenderContext:
        """The same, as rendering wants it."""
        return RenderContext(
            self.environment,
            models={(namespace, name): spec for name, spec in self.model_configs.items()},
            servers={(namespace, name): spec for name, spec in self.mcp_servers.items()},
        )


class ContextInputs(ManifestModel):
    """What refers to what agents share."""

    shared: SharedObjects = SharedObjects.model_construct()
    """What agents share and what the stack offers."""


class AgentInputs(ContextInputs, ObjectMetaInputs, AgentSpec):
    """Arguments of Agent and AgentWorkload: the manifest's spec, and where the agent lives."""

    agent_name: AgentName | None = None
    """Name of the agent; default the resource's name."""

    def plan(self, name: str, origin: Provenance) -> AgentPlan:
        """The agent, ready to be rendered."""
        place = AgentRef(
            name=self.agent_name or name,
            namespace=self.namespace,
            version=self.version,
            owner=self.owner,
            governance=self.governance,
            framework=self.framework,
            description=self.description,
            queue_name=self.pod.queue_name,
            labels=self.labels,
            annotations=self.annotations,
        )
        context = self.shared.context(self.namespace)
        return AgentPlan(place.meta(origin), self, context)


class McpServerInputs(ContextInputs, ObjectMetaInputs, HostedServer):
    """Arguments of McpServer: what a manifest says of a server that the stack runs."""

    image: ImageReference
    """Image of the server."""
    server_name: AgentName | None = None
    """Name of the server; default the resource's name."""

    def plan(self, name: str, origin: Provenance) -> AgentPlan:
        """The server, ready to be rendered."""
        place = AgentRef(
            name=self.server_name or name,
            namespace=self.namespace,
            version=self.version,
            owner=self.owner,
            governance=self.governance,
            labels=self.labels,
            annotations=self.annotations,
        )
        meta = replace(place.meta(origin), component=COMPONENT)
        context = self.shared.context(self.namespace)
        return AgentPlan(
            meta, self.as_agent(), context, kind=MCP_SERVER_KIND, url_path=self.effective_path
        )

    @property
    def shared_spec(self) -> McpServerSpec:
        """The same, as agents that name it know it."""
        return McpServerSpec.model_construct(
            **{name: getattr(self, name) for name in HostedServer.model_fields}
        )


class FleetInputs(ManifestModel):
    """Arguments of Fleet."""

    agents: dict[AgentName, AgentInputs]
    """Agents by name."""
    mcp_servers: dict[AgentName, McpServerInputs] = Field(default_factory=dict)
    """Tool servers by name; agents of the same namespace may name them in serverRef, and are let
    in."""
    namespaces: Literal["managed", "existing"] = "managed"
    """managed: the fleet declares its namespaces, with Pod Security labels; existing: not."""


class AdmissionPoliciesInputs(AdmissionSettings):
    """Arguments of AdmissionPolicies."""

    profile: Profile | None = None
    """Levels of the rules; default by the stack's name, anything but dev and staging is prod."""
    rules: dict[str, JsonObject] = Field(default_factory=dict)
    """Rule to its level (enforcementLevel) and parameters, over the profile."""
    namespaces: Items[LabelName] = ()
    """The namespaces whose objects are judged, with scope namespaces."""

    def plan(self, name: str, origin: Provenance) -> AdmissionPlan:
        """The policies that the arguments describe."""
        settings = AdmissionSettings(
            mode=self.mode,
            scope=self.scope,
            left_out_namespaces=self.left_out_namespaces,
            controllers=self.controllers,
        )
        profile = judged_by(self.profile or origin.stack, self.rules)
        return AdmissionPlan(name, profile, settings, origin, self.namespaces)
