"""An agent beside other resources: twelve of its arguments are outputs of theirs."""

import holdfast
import pulumi
import pulumi_kubernetes as kubernetes

DIGEST = "2b9fe4a0c6d25c0a8a7d3f4a1d9c7e2f6b1c8d5e4f3a2b1c0d9e8f7a6b5c4d3e"
config = pulumi.Config()

namespace = kubernetes.core.v1.Namespace("agents", metadata={"name": config.require("namespace")})
place: kubernetes.meta.v1.ObjectMetaArgsDict = {"namespace": namespace.metadata["name"]}
# What a build, a cloud or another stack would give: an image, an address, an owner.
release = kubernetes.core.v1.ConfigMap(
    "release",
    metadata=place,
    data={
        "image": f"registry.example/agents/support@sha256:{DIGEST}",
        "model": "http://vlm.models.svc:8000/v1",
        "owner": "customer-care",
        "region": "north",
    },
)
settings = kubernetes.core.v1.ConfigMap("settings", metadata=place, data={"GREETING": "hello"})
credentials = kubernetes.core.v1.Secret(
    "credentials", metadata=place, string_data={"token": "made-for-the-example"}
)
account = kubernetes.core.v1.ServiceAccount("account", metadata=place)
urgent = kubernetes.scheduling.v1.PriorityClass("urgent", value=1000, description="Agents first.")
memory = kubernetes.core.v1.PersistentVolumeClaim(
    "memory",
    metadata=place,
    spec={"access_modes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)

support = holdfast.Agent(
    "support",
    {
        "namespace": namespace.metadata["name"],
        "version": "2.1.0",
        "owner": release.data["owner"],
        "image": release.data["image"],
        "labels": {"example.com/region": release.data["region"]},
        "annotations": {"example.com/release": release.metadata["name"]},
        "model": {"provider": "OpenAI", "name": "m", "base_url": release.data["model"]},
        "pod": {
            "priority_class_name": urgent.metadata["name"],
            "security": {"service_account": {"create": False, "name": account.metadata["name"]}},
        },
        "container": {
            "env": [
                {"name": "REGION", "value": pulumi.Output.concat(release.data["region"], "-1")},
                # Known only when it exists: a preview says so.
                {"name": "RELEASE", "value": release.id},
            ],
            "env_from": [{"config_map_ref": {"name": settings.metadata["name"]}}],
        },
        "secrets": [
            {
                "name": "token",
                "ref": credentials.metadata["name"],
                "key": "token",
                "env": "TOKEN",
            }
        ],
        "storage": {
            "volumes": [
                {
                    "name": "memory",
                    "mount_path": "/var/lib/memory",
                    "existing_claim": memory.metadata["name"],
                }
            ]
        },
    },
)

pulumi.export("url", support.url)
