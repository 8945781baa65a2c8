"""Agents that use everything around them, and a stack that has it."""

import json
from typing import Any

from holdfast.kube.objects import KubeObject

IMAGE = f"registry.example/agent@sha256:{'0' * 64}"
VALUE = "correct-horse-battery-staple"
NAMESPACE = "around"


def agent(name: str, **spec: Any) -> str:
    """Manifest of an agent."""
    document = {
        "apiVersion": "holdfast.dev/v1alpha1",
        "kind": "Agent",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"version": "1.0.0", "owner": "sre", "image": IMAGE, **spec},
    }
    return json.dumps(document)


def manifests(*documents: str) -> str:
    """Several of them in one file."""
    return "\n---\n".join(documents)


ROLE = {"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/agents"}
STORAGE = {
    "volumes": [{"name": "index", "size": "2Gi", "mountPath": "/data"}],
    "backup": {"schedule": "0 3 * * *", "retentionDays": 3},
    "databases": [{"name": "main", "kind": "postgres", "host": "pg.data.svc", "secret": "db"}],
}
KEEPER = {
    "storage": STORAGE,
    "memory": {"backend": "vector", "storeRef": {"namespace": "data", "name": "qdrant"}},
    "secrets": [{"name": "db", "ref": "db", "key": "password", "mountPath": "/secrets/db"}],
    "config": [{"name": "shared", "from": "shared", "mountPath": "/shared"}],
}
SAVER = {
    "storage": {
        "volumes": [{"name": "index", "size": "1Gi", "mountPath": "/data"}],
        "backup": {
            "method": "Job",
            "schedule": "0 4 * * *",
            "image": IMAGE,
            "command": ["save"],
            "restoreCommand": ["fill"],
        },
        "restoreFrom": "nightly-1",
    }
}
SECRETIVE = {
    "secrets": [
        {
            "name": "llm",
            "provider": "externalSecret",
            "ref": "prod/llm",
            "key": "token",
            "env": "LLM",
        },
        {"name": "all", "provider": "externalSecret", "ref": "prod/all", "mountPath": "/all"},
        {
            "name": "crm",
            "provider": "awsSecretsManager",
            "ref": "prod/crm",
            "key": "token",
            "mountPath": "/crm",
        },
        {
            "name": "sign",
            "provider": "vault",
            "ref": "secret/data/sign",
            "key": "key",
            "mountPath": "/sign",
        },
    ],
    "pod": {"security": {"serviceAccount": {"annotations": ROLE}}},
}
OPEN = {
    "network": {
        "expose": {
            "gatewayRef": {"namespace": "edge", "name": "public", "sectionName": "https"},
            "hosts": ["open.example.com"],
            "path": "/open",
        },
        "egress": [
            {"host": "*.example.org"},
            {"host": "api.example.com"},
            {"cidr": "10.20.0.0/16"},
        ],
    },
    "telemetry": {
        "metrics": {
            "interval": "15s",
            "alerts": [{"name": "Slow", "expr": "up == 0", "summary": "it is down"}],
        },
        "slo": {
            "availability": 99.5,
            "latency": {"thresholdMs": 2500, "target": 95},
            "toolSuccess": 98,
        },
        "traces": {"endpoint": "http://otel.monitoring.svc:4317"},
    },
}
FLEET = manifests(
    agent("keeper", **KEEPER),
    agent("saver", **SAVER),
    agent("secretive", **SECRETIVE),
    agent("open", **OPEN),
)
SETTINGS: dict[str, Any] = {
    "namespaces": "existing",
    "controllers": [
        "cilium",
        "external-secrets",
        "gateway-api",
        "prometheus-operator",
        "vault-injector",
        "volume-snapshots",
    ],
    "network": {
        "gateway": {"namespace": "edge", "podLabels": {"app": "gateway"}},
        "monitoring": {"namespace": "monitoring", "podLabels": {"app": "prometheus"}},
    },
    "telemetry": {"monitorLabels": {"release": "main"}},
    "backups": {"image": IMAGE},
    "secretStores": {
        "externalSecret": {"name": "company"},
        "aws": {"region": "eu-west-1"},
        "vault": {"address": "https://vault.vault.svc:8200", "role": "agents"},
    },
}
DEFINED = [name for name in SETTINGS["controllers"] if name != "vault-injector"]


def secret(name: str, value: str) -> KubeObject:
    """A Secret of others that agents refer to."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "stringData": {"password": value},
    }


def shared(url: str) -> KubeObject:
    """A ConfigMap of others that an agent mounts."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "shared", "namespace": NAMESPACE},
        "data": {"url": url},
    }
