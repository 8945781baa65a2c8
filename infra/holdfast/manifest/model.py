"""The model an agent thinks with, its prompt, and the tools it may call."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from holdfast.manifest.faults import branch, chosen_by, fault
from holdfast.manifest.runtime import KeyReference
from holdfast.manifest.values import (
    Duration,
    FileName,
    Items,
    LabelName,
    ManifestModel,
    ObjectName,
    Sha256,
    Text,
    Url,
)


def _tool_name(value: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_./-]{1,128}", value):
        return value
    if "*" in value:
        raise fault("expected the tools by name, without wildcard", remedy="list each tool")
    raise fault("expected a tool's name: 1 to 128 letters, digits, '_', '-', '.' and '/'")


Transport = Literal["stdio", "sse", "streamable-http"]
ToolName = Annotated[
    str,
    AfterValidator(_tool_name),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_./-]{1,128}$"}),
]


class ObjectReference(ManifestModel):
    """A reference to another declared object, in the same namespace unless one is given."""

    namespace: LabelName | None = None
    """Namespace of the object; default the referrer's."""
    name: LabelName
    """Name of the object."""


def _reference_shape(value: object) -> str | None:
    if isinstance(value, str):
        return "name"
    return "reference" if isinstance(value, dict | ObjectReference) else None


Reference = Annotated[
    Annotated[LabelName, branch("name")] | Annotated[ObjectReference, branch("reference")],
    chosen_by(_reference_shape, "expected a name or {namespace, name}"),
]
"""A bare name, or `{namespace, name}`."""


def as_reference(reference: "str | ObjectReference", namespace: str) -> tuple[str, str]:
    """Namespace and name of a reference that stands in a manifest of `namespace`."""
    if isinstance(reference, str):
        return namespace, reference
    return reference.namespace or namespace, reference.name


class ModelParameters(ManifestModel):
    """Sampling parameters; what is absent is the provider's default."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Randomness, 0–2."""
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    """Nucleus sampling, 0–1."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Longest answer, in tokens."""
    seed: int | None = None
    """Seed, where the provider supports one."""
    reasoning_effort: Literal["low", "medium", "high"] | None = None
    """How hard the model thinks."""


class ModelChoice(ManifestModel):
    """One model: a ModelConfig by name, or provider and name."""

    ref: Reference | None = None
    """Name of a ModelConfig; excludes provider and name."""
    provider: Text | None = None
    """Provider, such as Anthropic."""
    name: Text | None = None
    """The provider's name of the model."""

    @model_validator(mode="after")
    def _ref_or_inline(self) -> Self:
        inline = self.provider is not None and self.name is not None
        partial = self.provider is not None or self.name is not None
        if (self.ref is not None and partial) or (self.ref is None and not inline):
            raise fault("expected either ref, or provider and name")
        return self


class Model(ModelChoice):
    """The model of an agent, its parameters and the way to it."""

    fallbacks: Items[ModelChoice] = ()
    """Models tried in this order when the first fails."""
    parameters: ModelParameters = ModelParameters()
    """Sampling parameters."""
    timeout: Duration = "60s"
    """Longest wait for an answer; default 60s."""
    base_url: Url | None = None
    """Address of the model; its host joins the agent's egress. Default the provider's."""
    api_key: LabelName | None = None
    """Name of the entry in secrets[] that holds the key."""


class PromptSource(ManifestModel):
    """Where the system message stands: a key of a ConfigMap, or a text file of the repository."""

    config_map: ObjectName | None = None
    """ConfigMap in the agent's namespace."""
    key: FileName | None = None
    """Key of that ConfigMap."""
    file: Text | None = None
    """Text file, relative to the manifest; must lie inside the project."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        from_map = self.config_map is not None and self.key is not None
        if (self.file is not None) == from_map or (self.config_map is None) != (self.key is None):
            raise fault("expected either file, or configMap and key")
        return self


class Prompt(ManifestModel):
    """The system message."""

    system_message: Text | None = None
    """The text itself; taken literally, nothing in it is expanded."""
    system_message_from: PromptSource | None = None
    """Where the text stands."""

    @model_validator(mode="after")
    def _one_message(self) -> Self:
        if (self.system_message is None) == (self.system_message_from is None):
            raise fault("expected either systemMessage or systemMessageFrom")
        return self


class McpTool(ManifestModel):
    """Tools of an MCP server, by name."""

    server_ref: Reference | None = None
    """Name of an MCPServer; excludes url."""
    url: Url | None = None
    """Address of a server that is not declared; its host joins the agent's egress."""
    transport: Transport = "streamable-http"
    """How the server is spoken to; default streamable-http."""
    tool_names: Annotated[Items[ToolName], Field(max_length=50)] = ()
    """Tools the agent may call; at least one, at most 50."""
    deny_names: Items[ToolName] = ()
    """Tools it may never call."""
    require_approval: Items[ToolName] = ()
    """Tools that a person must approve, each time; a subset of toolNames."""
    timeout: Duration = "30s"
    """Longest wait for a tool; default 30s."""
    digest: Sha256 | None = None
    """Digest over the reviewed names, descriptions and input schemas."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.server_ref is None) == (self.url is None):
            raise fault("expected either serverRef or url")
        if not self.tool_names:
            raise fault("expected at least one tool in toolNames", remedy="list the tools by name")
        for index, name in enumerate(self.deny_names):
            if name in self.tool_names:
                expected = "a tool cannot stand in toolNames and in denyNames"
                raise fault(expected, found=repr(name), at=("denyNames", index))
        for index, name in enumerate(self.require_approval):
            if name not in self.tool_names:
                expected = "requireApproval must be a subset of toolNames"
                raise fault(expected, found=repr(name), at=("requireApproval", index))
        return self


class AgentTool(ManifestModel):
    """Another agent as a tool; it joins network.peers."""

    ref: Reference
    """Name of the agent."""
    isolate_sessions: bool = False
    """Give each call a session of its own; default false."""


class HttpTool(ManifestModel):
    """An HTTP endpoint as a tool; its host joins the agent's egress."""

    url: Url
    """Address."""
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    """HTTP method; default POST."""


class Tool(ManifestModel):
    """One entry of tools[]: exactly one of mcp, agent and http."""

    mcp: McpTool | None = None
    """Tools of an MCP server."""
    agent: AgentTool | None = None
    """Another agent."""
    http: HttpTool | None = None
    """An HTTP endpoint."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(part is not None for part in (self.mcp, self.agent, self.http)) != 1:
            raise fault("expected exactly one of mcp, agent and http")
        return self


class ModelConfigSpec(ManifestModel):
    """A model that several agents share through model.ref."""

    provider: Text
    """Provider, such as Anthropic."""
    name: Text
    """The provider's name of the model."""
    base_url: Url | None = None
    """Address; its host joins the egress of every consumer. Default the provider's."""
    api_key: KeyReference | None = None
    """Secret and key in the consumer's namespace; mounted as a file, never an env variable."""
    parameters: ModelParameters = ModelParameters()
    """Sampling parameters; an agent's own win one by one."""
    allowed_namespaces: Items[LabelName] = ()
    """Other namespaces whose agents may refer to it."""


class McpServerSpec(ManifestModel):
    """A tool server that several agents share through tools[].mcp.serverRef."""

    url: Url
    """Address of the server."""
    transport: Transport = "streamable-http"
    """How it is spoken to; default streamable-http."""
    tool_names: Items[ToolName] = ()
    """The tools it offers; an agent's toolNames must be among them when given."""
    digest: Sha256 | None = None
    """Digest over the reviewed names, descriptions and input schemas."""
    allowed_namespaces: Items[LabelName] = ()
    """Other namespaces whose agents may refer to it."""
