"""The A2A agent card of an agent, version 1.0 of the protocol.

Source: A2A specification 1.0, "AgentCard" (a2a.proto). Every field that it requires is written.
"""

from typing import Any, Final

from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.plan.metadata import AgentMetadata

CARD_KEY: Final = "agent-card.json"
PROTOCOL_VERSION: Final = "1.0"


def has_card(spec: AgentSpec) -> bool:
    """Whether others can ask the agent for its card."""
    return spec.has_service and spec.card.enabled


def agent_card(meta: AgentMetadata, spec: AgentSpec) -> dict[str, Any]:
    """The card, as the agent serves it at /.well-known/agent-card.json."""
    card: dict[str, Any] = {
        "name": meta.name,
        "description": meta.description or f"Agent {meta.name}",
        "version": spec.version,
        "supportedInterfaces": [
            {
                "url": f"http://{meta.name}.{meta.namespace}.svc:{spec.network.expose.port}",
                "protocolBinding": "JSONRPC",
                "protocolVersion": PROTOCOL_VERSION,
            }
        ],
        "capabilities": {
            "streaming": spec.card.capabilities.streaming,
            "pushNotifications": spec.card.capabilities.push_notifications,
        },
        "defaultInputModes": list(spec.card.input_modes),
        "defaultOutputModes": list(spec.card.output_modes),
        "skills": [
            skill.model_dump(by_alias=True, exclude_defaults=True, mode="json")
            for skill in spec.card.skills
        ],
    }
    schemes = spec.card.security_schemes
    optional: dict[str, Any] = {
        "provider": spec.card.provider.model_dump(by_alias=True) if spec.card.provider else None,
        "iconUrl": spec.card.icon_url,
        "documentationUrl": spec.card.documentation_url,
        "securitySchemes": dict(schemes),
        # A caller needs one of them, not all.
        "securityRequirements": [{"schemes": {name: {"list": []}}} for name in sorted(schemes)],
    }
    return card | {key: value for key, value in optional.items() if value}
