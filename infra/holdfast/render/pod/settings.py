"""What the agent's process is told: `agent.json`, its prompt, and its configuration files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject, canonical_json
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.memory import Database
from holdfast.manifest.agent.model import Budget, as_reference
from holdfast.manifest.agent.skills import AgentSkill
from holdfast.manifest.agent.state import ConfigEntry
from holdfast.manifest.agent.tools import Tool
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.objects.agent_card import CARD_KEY, agent_card, has_card
from holdfast.render.plan.marks import AgentMarks, RenderedObject, content_hash
from holdfast.render.plan.models import (
    embedding_model,
    entry_place,
    model_settings,
    one_model,
    resolved_models,
)
from holdfast.render.plan.surroundings import Surroundings

SETTINGS_FOLDER = "/etc/holdfast/agent"
SETTINGS_KEY = "agent.json"
PROMPT_FOLDER = "/etc/holdfast/prompt"
PROMPT_KEY = "system.md"
SKILLS_FOLDER = "/etc/holdfast/skills"
PROMPT_TEMPLATES_FOLDER = "/etc/holdfast/prompt-templates"


@dataclass(frozen=True)
class MountedConfig:
    """A ConfigMap that the pod mounts: volume name, ConfigMap name, folder."""

    volume: str
    config_map: str
    folder: str


def render_settings(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[RenderedObject]:
    """ConfigMaps `<agent>-config`, `<agent>-prompt-<hash>` and one a configuration entry."""
    files = {SETTINGS_KEY: _json(agent_settings(marks, spec, surroundings))}
    if has_card(spec):
        files[CARD_KEY] = _json(agent_card(marks, spec))
    rendered = [RenderedObject(marks.name, "config", _config_map(marks, "config", files))]
    if spec.prompt and spec.prompt.system_message:
        prompt = _config_map(marks, prompt_suffix(spec), {PROMPT_KEY: spec.prompt.system_message})
        # The name holds the hash of the content: a changed prompt is another object.
        rendered.append(RenderedObject(marks.name, "prompt", prompt | {"immutable": True}))
    return rendered + render_config(marks, spec.config)


def render_config(marks: AgentMarks, config: Sequence[ConfigEntry]) -> list[RenderedObject]:
    """One ConfigMap an entry that brings its own data."""
    return [
        RenderedObject(
            marks.name, f"config-{entry.name}", _config_map(marks, entry.name, entry.data)
        )
        for entry in config
        if entry.data is not None
    ]


def mounted_configs(marks: AgentMarks, spec: AgentSpec) -> list[MountedConfig]:
    """Every ConfigMap that the pod mounts, the user's after ours."""
    mounts = [MountedConfig("agent-config", f"{marks.name}-config", SETTINGS_FOLDER)]
    if spec.prompt:
        source = spec.prompt.system_message_from
        name = source.config_map if source else None
        prompt = name or f"{marks.name}-{prompt_suffix(spec)}"
        mounts.append(MountedConfig("agent-prompt", prompt, PROMPT_FOLDER))
        mounts += (
            MountedConfig(f"prompt-templates-{index}", name, f"{PROMPT_TEMPLATES_FOLDER}/{name}")
            for index, name in enumerate(spec.prompt.template_sources)
        )
    for entry in spec.config:
        name = entry.from_ or f"{marks.name}-{entry.name}"
        mounts.append(MountedConfig(f"config-{entry.name}", name, entry.mount_path))
    return mounts


def settings_hash(rendered: Sequence[RenderedObject]) -> str:
    """Hash of all configuration content: a change of it rolls the pods."""
    return content_hash(
        {item.manifest["metadata"]["name"]: item.manifest["data"] for item in rendered}
    )


def prompt_suffix(spec: AgentSpec) -> str:
    """Suffix of the prompt's ConfigMap: it changes with the text."""
    text = spec.prompt.system_message if spec.prompt else None
    return f"prompt-{content_hash(text, digits=8)}"


def agent_settings(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> dict[str, Any]:
    """The content of `agent.json`."""
    settings: dict[str, Any] = {
        "name": marks.name,
        "namespace": marks.namespace,
        "version": spec.version,
        "framework": spec.framework,
    }
    if spec.description:
        settings["description"] = spec.description
    if spec.model:
        settings["model"] = model_settings(marks, spec, surroundings)
    if spec.prompt:
        source = spec.prompt.system_message_from
        key = source.key if source and source.key else PROMPT_KEY
        settings["prompt"] = {"systemMessageFile": f"{PROMPT_FOLDER}/{key}"}
        if spec.prompt.template_sources:
            folders = [f"{PROMPT_TEMPLATES_FOLDER}/{name}" for name in spec.prompt.template_sources]
            settings["prompt"]["templateFolders"] = folders
    if spec.memory.backend != "none":
        settings["memory"] = _memory_settings(marks, spec, surroundings)
    if spec.databases:
        settings["databases"] = [_database_settings(each) for each in spec.databases]
    if spec.tools:
        settings["tools"] = [_tool_settings(marks, tool, spec, surroundings) for tool in spec.tools]
    if spec.skills:
        settings["skills"] = [
            {"name": skill.name, "folder": skill_folder(skill)} for skill in spec.skills
        ]
    if spec.guardrails:
        settings["guardrails"] = _guardrail_settings(marks, spec, surroundings)
    settings["budget"] = _budget_settings(spec.budget)
    return settings


def _memory_settings(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> dict[str, Any]:
    settings = spec.memory.model_dump(
        by_alias=True, exclude_none=True, exclude={"store_ref", "embedding_model_ref"}
    )
    if store := spec.memory.store_in(spec.databases, marks.namespace):
        settings["store"] = {"host": store[0], "port": store[1]}
    if embedding := embedding_model(marks, spec, surroundings):
        settings["embeddingModel"] = one_model(embedding, spec)
    return settings


def _database_settings(database: Database) -> dict[str, Any]:
    return {
        "name": database.name,
        "kind": database.kind,
        "host": database.host,
        "port": database.effective_port,
    }


def skill_folder(skill: AgentSkill) -> str:
    """Folder in which the agent finds a skill."""
    return f"{SKILLS_FOLDER}/{skill.name}"


def _budget_settings(budget: Budget) -> dict[str, Any]:
    settings = budget.model_dump(by_alias=True, exclude_none=True, exclude={"period", "timeout"})
    settings["timeoutMilliseconds"] = duration_milliseconds(budget.timeout)
    if budget.period is not None:
        settings["periodSeconds"] = duration_milliseconds(budget.period) // 1000
    return settings


def _guardrail_settings(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[dict[str, str]]:
    if not any(model.gateway for model in resolved_models(marks, spec, surroundings)):
        raise RenderError(
            f"agent {marks.name}: spec.guardrails need a model gateway, which judges for them",
            remedy="set model.gatewayRef, or holdfast:models.gateway in the stack file",
        )
    return [{"ref": each.ref, "mode": each.mode} for each in spec.guardrails]


def _tool_settings(
    marks: AgentMarks, tool: Tool, spec: AgentSpec, surroundings: Surroundings
) -> dict[str, Any]:
    if tool.http:
        return {"type": "http", "url": tool.http.url, "method": tool.http.method}
    if tool.agent:
        peer = surroundings.peer(tool.agent.ref, marks.namespace)
        return {
            "type": "agent",
            "name": peer.name,
            "url": peer.url,
            "isolateSessions": tool.agent.isolate_sessions,
        }
    assert tool.mcp is not None  # noqa: S101 - exactly one of the three, by validation
    settings = tool.mcp.model_dump(
        by_alias=True,
        exclude_none=True,
        exclude={"server_ref", "timeout", "headers_from"},
        mode="json",
    )
    if tool.mcp.headers_from:
        settings["headersFrom"] = [
            {"name": source.name, **entry_place(spec, source.secret)}
            for source in tool.mcp.headers_from
        ]
    settings["type"] = "mcp"
    settings["timeoutMilliseconds"] = duration_milliseconds(tool.mcp.timeout)
    if tool.mcp.server_ref is not None:
        namespace, name = as_reference(tool.mcp.server_ref, marks.namespace)
        server = surroundings.tool_server(tool.mcp.server_ref, marks.namespace)
        if server is None:
            raise RenderError(
                f"agent {marks.name}: MCPServer {namespace}/{name} is not declared",
                remedy="declare it, or give its url",
            )
        settings |= {"url": server.url, "transport": server.transport, "server": name}
        if server.digest and tool.mcp.digest is None:
            settings["digest"] = server.digest
    return settings


def _json(value: dict[str, Any]) -> str:
    # The standard library indents in Python alone, at ten times the time.
    return msgspec.json.format(canonical_json(value), indent=2).decode()


def _config_map(marks: AgentMarks, suffix: str, data: dict[str, str] | None) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": marks.metadata(suffix),
        "data": data or {},
    }
