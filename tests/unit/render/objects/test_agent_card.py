"""The A2A card: every field that the protocol requires, and what the manifest adds."""

from typing import Any

from tests.unit.render.connected_agent import container, env
from tests.unit.render.plan.test_models import rendered, settings

CARD = "agent-card.json"
SKILL = {
    "id": "diag",
    "name": "Diagnose",
    "description": "Cluster triage",
    "tags": ["k8s"],
    "examples": ["why is it slow?"],
}
FULL: dict[str, Any] = {
    "description": "Answers questions",
    "card": {
        "provider": {"organization": "Example", "url": "https://example.com"},
        "iconUrl": "https://example.com/icon.png",
        "documentationUrl": "https://example.com/docs",
        "skills": [SKILL],
        "capabilities": {"streaming": True},
        "inputModes": ["text/plain", "image/png"],
        "securitySchemes": {
            "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}}
        },
    },
}


def test_the_smallest_agent_has_a_card_with_all_that_is_required() -> None:
    objects = rendered({})
    assert settings(objects, CARD) == {
        "name": "support",
        "description": "Agent support",
        "version": "2.1.0",
        "supportedInterfaces": [
            {
                "url": "http://support.cx.svc:8080",
                "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0",
            }
        ],
        "capabilities": {"streaming": False, "pushNotifications": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [],
    }
    assert env(objects)["AGENT_CARD_FILE"] == "/etc/holdfast/agent/agent-card.json"
    mounts = {mount["mountPath"] for mount in container(objects)["volumeMounts"]}
    assert "/etc/holdfast/agent" in mounts


def test_what_the_manifest_says_is_in_the_card() -> None:
    card = settings(rendered(FULL), CARD)
    assert card["description"] == "Answers questions"
    assert card["provider"] == {"organization": "Example", "url": "https://example.com"}
    assert (card["iconUrl"], card["documentationUrl"]) == (
        FULL["card"]["iconUrl"],
        FULL["card"]["documentationUrl"],
    )
    assert card["skills"] == [SKILL]
    assert card["capabilities"] == {"streaming": True, "pushNotifications": False}
    assert card["defaultInputModes"] == ["text/plain", "image/png"]
    assert card["securitySchemes"] == FULL["card"]["securitySchemes"]
    assert card["securityRequirements"] == [{"schemes": {"bearer": {"list": []}}}]


def test_an_agent_without_card_tells_of_none() -> None:
    probes = {"readiness": {"httpGet": {"path": "/healthz"}}}
    objects = rendered({"card": {"enabled": False}, "container": {"probes": probes}})
    config = next(item for item in objects if item.role == "config")
    assert list(config.manifest["data"]) == ["agent.json"]
    assert "AGENT_CARD_FILE" not in env(objects)
