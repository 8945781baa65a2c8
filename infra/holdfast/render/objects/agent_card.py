"""The A2A agent card of an agent, version 1.0 of the protocol.

Source: A2A specification 1.0, "AgentCard" (a2a.proto). Every field that it requires is written.
"""

from typing import Any, Final

from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.plan.marks import AgentMarks

CARD_KEY: Final = "agent-card.json"
PROTOCOL_VERSION: Final = "1.0"


def has_card(spec: AgentSpec) -> bool:
    """Whether others can ask the agent for its card."""
    return spec.has_service and spec.a2a.enabled


def agent_card(marks: AgentMarks, spec: AgentSpec) -> dict[str, Any]:
    """The card, as the agent serves it at /.well-known/agent-card.json."""
    card: dict[str, Any] = {
        "name": marks.name,
        "description": marks.description or f"Agent {marks.name}",
        "version": spec.version,
        "supportedInterfaces": [
            {
                "url": f"http://{marks.name}.{marks.namespace}.svc:{spec.network.expose.port}",
                "protocolBinding": "JSONRPC",
                "protocolVersion": PROTOCOL_VERSION,
            }
        ],
        "capabilities": {
            "streaming": spec.a2a.capabilities.streaming,
            "pushNotifications": spec.a2a.capabilities.push_notifications,
        },
        "defaultInputModes": list(spec.a2a.input_modes),
        "defaultOutputModes": list(spec.a2a.output_modes),
        "skills": [
            skill.model_dump(by_alias=True, exclude_defaults=True, mode="json")
            for skill in spec.a2a.skills
        ],
    }
    schemes = spec.a2a.security_schemes
    optional: dict[str, Any] = {
        "provider": spec.provider.model_dump(by_alias=True) if spec.provider else None,
        "iconUrl": spec.icon_url,
        "documentationUrl": spec.documentation_url,
        "securitySchemes": dict(schemes),
        # A caller needs one of them, not all.
        "securityRequirements": [{"schemes": {name: {"list": []}}} for name in sorted(schemes)],
    }
    return card | {key: value for key, value in optional.items() if value}
