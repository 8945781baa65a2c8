"""Every tool that an agent may call is named and pinned."""

from collections.abc import Iterator

from holdfast_policies.api import (
    CONFIG_MAP,
    Breach,
    Environment,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    each,
    items,
    mapping,
    shown,
    text,
)
from holdfast_policies.facts.agent_settings import SETTINGS_PATH, settings_of

DIGEST = Parameter(
    name="digest_required",
    description="Whether the tools of a server must be pinned by the digest of their contracts.",
    schema={"type": "boolean"},
    default=True,
    defaults={Environment.DEV: False},
)


def check(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Tools of MCP servers that are not named one by one, or not pinned."""
    agent = settings_of(subject)
    if agent is None:
        return

    def check_tool(tool: object, _: str) -> Iterator[Breach]:
        declared = mapping(tool)
        if declared.get("type") != "mcp":
            return
        server = shown(text(declared.get("server")) or text(declared.get("url")))
        names = [text(name) for name in items(declared.get("toolNames"))]
        if not names or any("*" in name for name in names):
            got = f"{shown(names) if names else 'no names'} of {server}"
            yield Breach(SETTINGS_PATH, got, "tools by name", "list each tool under toolNames")
        elif settings["digest_required"] and not text(declared.get("digest")):
            required = "the digest of what was reviewed"
            yield Breach(SETTINGS_PATH, f"tools of {server} without digest", required)

    yield from each(agent.get("tools"), SETTINGS_PATH, check_tool, "")


RULE = Rule(
    id="tool-allowlist-declared",
    title="Tools by name and digest",
    description="An agent may call tools that nobody has named or reviewed",
    rationale="A server can add a tool, or change what one does, without any deployment.",
    remedy="list toolNames, review them with `holdfast mcp lock` and set their digest",
    source="https://genai.owasp.org/llmrisk/llm062025-excessive-agency/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "AC-6",
        "CM-7",
        "LLM06",
        "ASI02",
        "ASI04",
        "MCP",
    ),
    fix=Fix.NO,
    kinds=frozenset({CONFIG_MAP}),
    check=check,
    parameters=(DIGEST,),
    not_in_cluster="what it judges stands in agent.json, and CEL cannot read JSON within a text",
)
