"""The settings of the agent's process: `agent.json`, its prompt, and its configuration files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject, canonical_json
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.memory import Database
from holdfast.manifest.agent.model import Budget, as_reference
from holdfast.manifest.agent.skills import AgentSkill
from holdfast.manifest.agent.tools import Tool
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.objects.agent_card import CARD_KEY, agent_card, has_card
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject, content_hash
from holdfast.render.plan.models import (
    embedding_model,
    entry_place,
    model_settings,
    one_model,
    resolved_models,
)
from holdfast.render.plan.render_context import RenderContext

SETTINGS_FOLDER = "/etc/holdfast/agent"
SETTINGS_KEY = "agent.json"
PROMPT_FOLDER = "/etc/holdfast/prompt"
PROMPT_KEY = "system.md"
SKILLS_FOLDER = "/etc/holdfast/skills"
PROMPT_TEMPLATES_FOLDER = "/etc/holdfast/prompt-templates"


@dataclass(frozen=True)
class Configuration:
    """The rendered configuration of an agent, as its pods refer to it.

    Attributes:
        digest: Hash of all content: a change of it rolls the pods.
        names: Role to name of each ConfigMap; the names change with the content.
    """

    digest: str
    names: Mapping[str, str]


def configuration_of(rendered: Sequence[RenderedObject]) -> Configuration:
    """What pods need to know of the ConfigMaps that `render_settings` gives."""
    content = {item.manifest["metadata"]["name"]: item.manifest["data"] for item in rendered}
    names = {item.role: str(item.manifest["metadata"]["name"]) for item in rendered}
    return Configuration(content_hash(content), names)


@dataclass(frozen=True)
class MountedConfig:
    """A ConfigMap that the pod mounts: volume name, ConfigMap name, folder."""

    volume: str
    config_map: str
    folder: str


def render_settings(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[RenderedObject]:
    """ConfigMaps `<agent>-config-<hash>`, `<agent>-prompt-<hash>`, `<agent>-<entry>-<hash>`.

    Named by their content and immutable: pods of the previous version keep what they run on.
    """
    files = {SETTINGS_KEY: _json(agent_settings(meta, spec, context))}
    if has_card(spec):
        files[CARD_KEY] = _json(agent_card(meta, spec))
    rendered = [_config_map(meta, "config", "config", files)]
    if spec.prompt and spec.prompt.system_message:
        files = {PROMPT_KEY: spec.prompt.system_message}
        rendered.append(_config_map(meta, "prompt", "prompt", files))
    rendered += [
        _config_map(meta, f"config-{entry.name}", entry.name, entry.data)
        for entry in spec.config
        if entry.data is not None
    ]
    return rendered


def mounted_configs(spec: AgentSpec, names: Mapping[str, str]) -> list[MountedConfig]:
    """Every ConfigMap that the pod mounts, the user's after ours.

    Args:
        spec: The agent.
        names: Of the ConfigMaps that are rendered for it, by role.
    """
    mounts = [MountedConfig("agent-config", names["config"], SETTINGS_FOLDER)]
    if spec.prompt:
        source = spec.prompt.system_message_from
        prompt = (source.config_map if source else None) or names["prompt"]
        mounts.append(MountedConfig("agent-prompt", prompt, PROMPT_FOLDER))
        mounts += (
            MountedConfig(f"prompt-templates-{index}", name, f"{PROMPT_TEMPLATES_FOLDER}/{name}")
            for index, name in enumerate(spec.prompt.template_sources)
        )
    for entry in spec.config:
        name = entry.from_ or names[f"config-{entry.name}"]
        mounts.append(MountedConfig(f"config-{entry.name}", name, entry.mount_path))
    return mounts


def agent_settings(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> dict[str, Any]:
    """The content of `agent.json`."""
    settings: dict[str, Any] = {
        "name": meta.name,
        "namespace": meta.namespace,
        "version": spec.version,
        "framework": spec.framework,
    }
    if spec.description:
        settings["description"] = spec.description
    if spec.model:
        settings["model"] = model_settings(meta, spec, context)
    if spec.prompt:
        source = spec.prompt.system_message_from
        key = source.key if source and source.key else PROMPT_KEY
        settings["prompt"] = {"systemMessageFile": f"{PROMPT_FOLDER}/{key}"}
        if spec.prompt.template_sources:
            folders = [f"{PROMPT_TEMPLATES_FOLDER}/{name}" for name in spec.prompt.template_sources]
            settings["prompt"]["templateFolders"] = folders
    if spec.memory.backend != "none":
        settings["memory"] = _memory_settings(meta, spec, context)
    if spec.storage.databases:
        settings["databases"] = [_database_settings(each) for each in spec.storage.databases]
    if spec.tools:
        settings["tools"] = [_tool_settings(meta, tool, spec, context) for tool in spec.tools]
    if spec.skills:
        settings["skills"] = [
            {"name": skill.name, "folder": skill_folder(skill)} for skill in spec.skills
        ]
    if spec.guardrails:
        settings["guardrails"] = _guardrail_settings(meta, spec, context)
    settings["budget"] = _budget_settings(spec.budget)
    return settings


def _memory_settings(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> dict[str, Any]:
    settings = spec.memory.model_dump(
        by_alias=True, exclude_none=True, exclude={"store_ref", "embedding_model_ref"}
    )
    if store := spec.memory.store_in(spec.storage.databases, meta.namespace):
        settings["store"] = {"host": store[0], "port": store[1]}
    if embedding := embedding_model(meta, spec, context):
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
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[dict[str, str]]:
    if not any(model.gateway for model in resolved_models(meta, spec, context)):
        raise RenderError(
            f"agent {meta.name}: spec.guardrails need a model gateway, which judges for them",
            remedy="set model.gatewayRef, or holdfast:models.gateway in the stack file",
        )
    return [{"ref": each.ref, "mode": each.mode} for each in spec.guardrails]


def _tool_settings(
    meta: AgentMetadata, tool: Tool, spec: AgentSpec, context: RenderContext
) -> dict[str, Any]:
    if tool.http:
        return {"type": "http", "url": tool.http.url, "method": tool.http.method}
    if tool.agent:
        peer = context.peer(tool.agent.ref, meta.namespace)
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
    hints = context.tool_hints(tool.mcp, meta.namespace)
    if annotations := {name: said for name, said in hints.items() if said}:
        settings["annotations"] = annotations
    settings["type"] = "mcp"
    settings["timeoutMilliseconds"] = duration_milliseconds(tool.mcp.timeout)
    if tool.mcp.server_ref is not None:
        namespace, name = as_reference(tool.mcp.server_ref, meta.namespace)
        server = context.tool_server(tool.mcp.server_ref, meta.namespace)
        if server is None:
            raise RenderError(
                f"agent {meta.name}: MCPServer {namespace}/{name} is not declared",
                remedy="declare it, or give its url",
            )
        settings |= {"url": server.url, "transport": server.transport, "server": name}
        if server.digest and tool.mcp.digest is None:
            settings["digest"] = server.digest
    return settings


def _json(value: dict[str, Any]) -> str:
    # The standard library indents in Python alone, at ten times the time.
    return msgspec.json.format(canonical_json(value), indent=2).decode()


def _config_map(
    meta: AgentMetadata, role: str, name: str, data: Mapping[str, str]
) -> RenderedObject:
    content = content_hash([data] if meta.origin.has_outputs else data, digits=8)
    manifest: KubeObject = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta.metadata(f"{name}-{content}"),
        "data": dict(data),
        "immutable": True,
    }
    return RenderedObject(meta.name, role, manifest, content=content)
