"""Agents that use every field of life cycle, rollout and scaling, and the stack that they need."""

from typing import Any

import yaml

from tests.e2e.fleet_project import FleetProject

IMAGE = "registry.example/agent@sha256:" + "1" * 64
NEWER = "registry.example/agent@sha256:" + "2" * 64
DIGEST = "6" * 64
MODEL = {"provider": "vLLM", "name": "vlm-7b", "baseUrl": "http://vllm.models.svc:8000/v1"}
CANARY = {
    "strategy": "Canary",
    "steps": [
        {"setWeight": 20},
        {"pause": {"duration": "1m"}},
        {"setWeight": 50},
        {"pause": {"duration": "1m"}},
    ],
    "analysis": {
        "maxErrorRate": 1,
        "maxP99LatencyMs": 4000,
        "minToolSuccess": 98.5,
        "maxTokensPerRequest": 9000,
    },
}
BLUE_GREEN = {"strategy": "BlueGreen", "analysis": {"maxErrorRate": 1, "window": "2m"}}
RANGE = {
    "minReplicas": 2,
    "maxReplicas": 6,
    "metrics": [
        {"type": "Resource", "name": "cpu", "target": 70},
        {"type": "Resource", "name": "memory", "target": "2Gi"},
        {"type": "Pods", "name": "agent_inflight_requests", "target": "1500m"},
        {"type": "External", "name": "queue_depth", "target": 5, "selector": {"queue": "a"}},
    ],
    "behavior": {
        "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max"},
        "scaleDown": {"policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}]},
    },
}
BUSY = {
    "container": {
        "lifecycle": {
            "preStart": [
                {"command": ["migrate"]},
                {
                    "fetch": {
                        "uri": "s3://weights/vlm.bin",
                        "sha256": DIGEST,
                        "to": "/models",
                        "credentials": "store",
                    }
                },
            ],
            "preStop": {"httpGet": {"path": "/drain"}},
        },
        "probes": {
            "startup": {"httpGet": {"path": "/warm"}, "failureThreshold": 90},
            "liveness": {
                "grpc": {"service": "agent"},
                "initialDelaySeconds": 5,
                "terminationGracePeriodSeconds": 20,
            },
            "readiness": {
                "httpGet": {"path": "/ready", "httpHeaders": [{"name": "X-Probe", "value": "1"}]},
                "successThreshold": 2,
            },
        },
        "resources": {
            "requests": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"},
            "limits": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"},
        },
    },
    "pod": {
        "cacheWarmer": {"http": "/warm", "interval": "1m"},
        "sidecars": [{"name": "proxy", "image": IMAGE, "ports": [{"containerPort": 9901}]}],
        "initContainers": [{"name": "seed", "image": IMAGE, "command": ["seed"]}],
        "overrides": {
            "hostAliases": [{"ip": "10.0.0.9", "hostnames": ["db"]}],
            "containers": [{"name": "agent", "tty": True}],
        },
        "queueName": "gpu-team",
        "nodeSelector": {"nvidia.com/gpu.present": "true"},
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "preference": {
                            "matchExpressions": [
                                {"key": "gpu-model", "operator": "In", "values": ["a"]}
                            ]
                        },
                    }
                ]
            }
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "busy"}},
            }
        ],
    },
    "scaling": {
        "leaderElection": True,
        "availability": {"standby": True, "pdb": {"maxUnavailable": "50%"}},
        "replicas": 2,
    },
    "secrets": [{"name": "store", "ref": "store-keys", "mountPath": "/run/store"}],
    "network": {"egress": [{"cidr": "10.96.0.1/32"}]},
    "telemetry": {"logs": {"shipper": "sidecar"}, "traces": {"inject": "sidecar"}},
    "rollout": {
        "maxSurge": "50%",
        "maxUnavailable": 0,
        "preflight": {"command": ["self-test"], "timeout": "30s"},
    },
}
AGENTS: dict[str, dict[str, Any]] = {
    "busy": {"model": MODEL, **BUSY},
    "canary": {"model": MODEL, "rollout": CANARY, "scaling": RANGE},
    "bluegreen": {"rollout": BLUE_GREEN, "telemetry": {"traces": {"inject": "operator"}}},
    "sleeper": {
        "scaling": {
            "minReplicas": 1,
            "maxReplicas": 5,
            "metrics": [{"type": "External", "name": "queue_depth", "target": 5}],
            "behavior": {"scaleDown": {"selectPolicy": "Min"}},
            "idleSeconds": 120,
            "schedules": [
                {
                    "start": "0 8 * * 1-5",
                    "end": "0 18 * * 1-5",
                    "timezone": "Europe/London",
                    "replicas": 3,
                }
            ],
        }
    },
    "ranged": {"scaling": RANGE, "rollout": {"strategy": "RollingUpdate", "maxUnavailable": 1}},
}
SETTINGS = {
    "holdfast:controllers": ["argo-rollouts", "keda", "kueue", "opentelemetry-operator"],
    "holdfast:images": {
        "tools": "registry.example/tools@sha256:" + "3" * 64,
        "logShipper": "registry.example/collector@sha256:" + "4" * 64,
        "telemetryCollector": "registry.example/collector@sha256:" + "4" * 64,
    },
    "holdfast:objectStores": {"s3": {"endpoint": "https://s3.example.com", "region": "eu-1"}},
    "holdfast:telemetry": {
        "otlpEndpoint": "http://otel.monitoring.svc:4317",
        "prometheusUrl": "http://prometheus.monitoring.svc:9090",
    },
    "holdfast:network": {
        "egressGateway": {
            "namespace": "egress",
            "podLabels": {"app": "proxy"},
            "port": 3128,
            "url": "http://proxy.egress.svc:3128",
        }
    },
    "holdfast:policy": {"profile": "dev"},
}


def declare(
    project: FleetProject, agents: dict[str, dict[str, Any]], namespace: str, **metadata: Any
) -> None:
    """Make these the only agents of the project."""
    for file in (project.root / "agents").rglob("*"):
        if file.is_file():
            file.unlink()
    for name, spec in agents.items():
        document = {
            "apiVersion": "holdfast.dev/v1alpha1",
            "kind": "Agent",
            "metadata": {"name": name, **metadata},
            "spec": {"version": "1.0.0", "owner": "a", "image": IMAGE, **spec},
        }
        (project.root / "agents" / f"{name}.yaml").write_text(yaml.safe_dump(document))
    file = project.root / "stacks" / "Pulumi.dev.yaml"
    stack = yaml.safe_load(file.read_text())
    cluster = {"context": project.sandbox.context, "identifier": "dev"}
    stack["config"] = SETTINGS | {"holdfast:cluster": cluster, "holdfast:namespace": namespace}
    file.write_text(yaml.safe_dump(stack))
