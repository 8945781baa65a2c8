"""The tools an agent may call, and the servers that offer them."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.agent.model import Reference
from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.choices import Choosing, OneOf
from holdfast.manifest.types.references import EntryOf, Reaches, RefersTo
from holdfast.manifest.types.values import (
    Duration,
    HeaderName,
    Items,
    LabelName,
    ManifestModel,
    Sha256,
    ToolName,
    Url,
)

Transport = Literal["sse", "streamable-http"]


class HeaderSource(ManifestModel):
    """A header whose value is a secret."""

    name: HeaderName
    """Name of the header, such as Authorization."""
    secret: Annotated[LabelName, EntryOf("value")]
    """Entry of secrets[] whose key holds the whole value."""


class McpTool(Choosing):
    """Tools of an MCP server, by name."""

    CHOICES = (OneOf(("server_ref", "url")),)

    server_ref: Annotated[Reference, RefersTo("MCPServer", "tools")] | None = None
    """Name of an MCPServer; excludes url."""
    url: Annotated[Url, Reaches("tools")] | None = None
    """Address of a server that is not declared; its host joins the agent's egress."""
    transport: Transport = "streamable-http"
    """How the server is spoken to; default streamable-http."""
    tool_names: Annotated[Items[ToolName], Field(max_length=50)] = ()
    """Tools the agent may call; at least one, at most 50."""
    require_approval: Items[ToolName] = ()
    """Tools that a person must approve, each time; a subset of toolNames."""
    headers_from: Items[HeaderSource] = ()
    """Headers that the agent sends to the server, from entries of secrets[]."""
    allowed_headers: Items[HeaderName] = ()
    """Headers of a caller's request that the agent may pass on to the server; default none."""
    timeout: Duration = "30s"
    """Longest wait for a tool; default 30s."""
    digest: Sha256 | None = None
    """Digest over the reviewed names, descriptions and input schemas."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.server_ref is not None and self.transport != "streamable-http":
            raise fault("serverRef excludes transport: the MCPServer says it", at=("transport",))
        sent = [source.name.lower() for source in self.headers_from]
        for index, name in enumerate(self.allowed_headers):
            if name.lower() in sent or name.lower() in map(str.lower, self.allowed_headers[:index]):
                expected = "expected a header that is not given already"
                raise fault(expected, found=repr(name), at=("allowedHeaders", index))
        if not self.tool_names:
            raise fault("expected at least one tool in toolNames", remedy="list the tools by name")
        for index, name in enumerate(self.require_approval):
            if name not in self.tool_names:
                expected = "requireApproval must be a subset of toolNames"
                raise fault(expected, found=repr(name), at=("requireApproval", index))
        return self


class AgentTool(ManifestModel):
    """Another agent as a tool; it joins the egress, and must name this one in its ingressFrom."""

    ref: Annotated[Reference, RefersTo("Agent", "calls")]
    """Name of the agent."""
    isolate_sessions: bool = False
    """Give each call a session of its own; default false."""


class HttpTool(ManifestModel):
    """An HTTP endpoint as a tool; its host joins the agent's egress."""

    url: Annotated[Url, Reaches("tools")]
    """Address."""
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    """HTTP method; default POST."""


class Tool(Choosing):
    """One entry of tools[]: exactly one of mcp, agent and http."""

    CHOICES = (OneOf(("mcp", "agent", "http")),)

    mcp: McpTool | None = None
    """Tools of an MCP server."""
    agent: AgentTool | None = None
    """Another agent."""
    http: HttpTool | None = None
    """An HTTP endpoint."""
