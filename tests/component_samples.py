"""Arguments of every component, small and complete: each is deployed from every language."""

from collections.abc import Mapping
from typing import Any

IMAGE = f"registry.example/other@sha256:{'3' * 64}"
STORAGE = [{"name": "data", "size": "1Gi", "mountPath": "/data"}]
SELF_TEST = {"llm": False, "tools": False, "command": ["self-test"]}
PARTS_OF_AGENT = "agent"


def samples(namespace: str) -> Mapping[str, Mapping[str, Any]]:
    """Component to arguments, in camelCase as YAML and TypeScript have them."""
    place = {"name": "other", "namespace": namespace, "version": "1.0.0"}
    part = {PARTS_OF_AGENT: place}
    whole = {"agentName": "other", "namespace": namespace, "version": "1.0.0", "image": IMAGE}
    rules = [{"resources": ["configmaps"], "verbs": ["get"]}]
    return {
        "AgentIdentity": part | {"pod": {"security": {"rbac": [{"rules": rules}]}}},
        "AgentConfig": part | {"prompt": {"systemMessage": "Be brief."}},
        "AgentSecrets": part | {"secrets": [{"name": "key", "ref": "llm", "mountPath": "/llm"}]},
        "AgentStorage": part | {"storage": {"volumes": STORAGE}},
        "AgentMonitoring": part | {"telemetry": {"metrics": {"interval": "15s"}}},
        "AgentNetwork": part | {"network": {"ingressFrom": ["peer", {"namespace": "edge"}]}},
        "AgentBackup": whole
        | {
            "storage": {
                "volumes": STORAGE,
                "backup": {"method": "Job", "image": IMAGE, "command": ["save"]},
            }
        },
        "AgentPromotion": whole | {"rollout": {"preflight": SELF_TEST}},
        "AgentWorkload": whole | {"scaling": {"replicas": 2}},
        "AgentScaling": part | {"scaling": {"replicas": 2}},
        "Agent": whole,
        "McpServer": {"serverName": "other-tools", "namespace": namespace, "image": IMAGE},
        "AdmissionPolicies": {"profile": "dev", "mode": "warn", "namespaces": [namespace]},
        "Fleet": {"namespaces": "existing", "agents": {"other": whole}},
    }
