"""The tools an agent may call, and the servers that offer them."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.agent.model import Reference
from holdfast.manifest.types.conditions import Given, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import HeaderName, LabelName, ToolName
from holdfast.manifest.types.references import EntryOf, Reaches, RefersTo
from holdfast.manifest.types.rules import Computed, Found, OneOf, Rule, Ruled, Unique, finds
from holdfast.manifest.types.values import Duration, Sha256, Url

Transport = Literal["sse", "streamable-http"]


class HeaderSource(ManifestModel):
    """A header whose value is a secret."""

    name: HeaderName
    """Name of the header, such as Authorization."""
    secret: Annotated[LabelName, EntryOf("value")]
    """Entry of secrets[] whose key holds the whole value."""


class McpTool(Ruled):
    """Tools of an MCP server, by name."""

    RULES = (
        OneOf(("server_ref", "url")),
        Rule(
            "transport-of-a-server",
            Given("server_ref").needs(is_("transport", "streamable-http")),
            "serverRef excludes transport: the MCPServer says it",
            at="transport",
            remedy="remove transport",
        ),
        Rule(
            "headers-once",
            Computed(
                why_not="CEL compares header names with every other above its cost limit",
                fields=("allowed_headers",),
            ),
            "expected a header that is not given already",
            remedy="remove one of them",
        ),
        Rule(
            "tools-by-name",
            Given("tool_names"),
            "expected at least one tool in toolNames",
            remedy="list the tools by name",
        ),
        Rule(
            "approved-tools-are-used",
            Computed(
                cel="!has(self.requireApproval) || self.requireApproval.all(each, "
                "has(self.toolNames) && each in self.toolNames)",
                fields=("require_approval",),
            ),
            "requireApproval must be a subset of toolNames",
            remedy="add the tool to toolNames, or remove it from requireApproval",
        ),
    )

    server_ref: Annotated[Reference, RefersTo("MCPServer", "tools")] | None = None
    """Name of an MCPServer; excludes url."""
    url: Annotated[Url, Reaches("tools")] | None = None
    """Address of a server that is not declared; its host joins the agent's egress."""
    transport: Transport = "streamable-http"
    """How the server is spoken to; default streamable-http."""
    tool_names: Annotated[Items[ToolName], Field(max_length=50), Unique("")] = ()
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
    """Digest over the reviewed tools and instructions, as agents/tools.lock has it."""


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


class Tool(Ruled):
    """One entry of tools[]: exactly one of mcp, agent and http."""

    RULES = (OneOf(("mcp", "agent", "http")),)

    mcp: McpTool | None = None
    """Tools of an MCP server."""
    agent: AgentTool | None = None
    """Another agent."""
    http: HttpTool | None = None
    """An HTTP endpoint."""


@finds("headers-once")
def _repeated_headers(tool: McpTool) -> Iterator[Found]:
    seen = [source.name.lower() for source in tool.headers_from]
    for index, name in enumerate(tool.allowed_headers):
        if name.lower() in seen:
            yield Found(("allowedHeaders", index), repr(name))
        seen.append(name.lower())


@finds("approved-tools-are-used")
def _unused_approvals(tool: McpTool) -> Iterator[Found]:
    for index, name in enumerate(tool.require_approval):
        if name not in tool.tool_names:
            yield Found(("requireApproval", index), repr(name))
