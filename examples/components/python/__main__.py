"""Agents in a Python program: no manifests, every argument typed and completed by an editor."""

import holdfast
import pulumi

namespace = pulumi.Config().require("namespace")

# A whole fleet: its namespace, and every agent with all of its parts.
fleet = holdfast.Fleet(
    "fleet",
    {
        "agents": {
            "support": {
                "namespace": namespace,
                "version": "2.1.0",
                "owner": "customer-care",
                "image": "registry.example/agents/support@sha256:"
                "2b9fe4a0c6d25c0a8a7d3f4a1d9c7e2f6b1c8d5e4f3a2b1c0d9e8f7a6b5c4d3e",
                "network": {"ingress_from": [{"namespace": "edge"}]},
                "telemetry": {"logs": {"level": "warning"}},
            },
        },
    },
)

# A part alone: the storage of a workload that you declare yourself.
memory = holdfast.AgentStorage(
    "memory",
    {
        "agent": {"name": "archivist", "namespace": namespace},
        "storage": {
            "volumes": [
                {"name": "memory", "size": "2Gi", "mount_path": "/var/lib/memory", "retain": False}
            ]
        },
    },
    pulumi.ResourceOptions(depends_on=[fleet]),
)

pulumi.export("urls", fleet.urls)
pulumi.export("claims", memory.claim_names)
