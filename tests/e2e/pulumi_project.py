"""A small Pulumi project of a test's own: the objects that a JSON file lists, and a secret."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.stack import Stack, open_stack

PROGRAM = """
import json, pathlib
import pulumi, pulumi_kubernetes as kubernetes

wanted = json.loads(pathlib.Path("wanted.json").read_text())
exec(wanted["before"])
provider = kubernetes.Provider(
    "cluster", kubeconfig="", context=wanted["context"], cluster_identifier="test",
    enable_config_map_mutable=True, enable_secret_mutable=True)
options = pulumi.ResourceOptions(provider=provider)
kinds = {
    "ConfigMap": kubernetes.core.v1.ConfigMap,
    "Secret": kubernetes.core.v1.Secret,
    "Deployment": kubernetes.apps.v1.Deployment,
}
for item in wanted["objects"]:
    body = {k: v for k, v in item.items() if k not in ("kind", "apiVersion")}
    kinds[item["kind"]](item["metadata"]["name"], opts=options, **body)
pulumi.export("answer", 42)
pulumi.export("hidden", pulumi.Output.secret("hunter2"))
"""

POLICY_PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def only_small(args, report):
    if args.resource_type == "kubernetes:core/v1:ConfigMap" and len(args.props["data"]) > 2:
        report(f"{args.name}: more than two keys; split it")

PolicyPack("test", enforcement_level=EnforcementLevel.MANDATORY, policies=[
    ResourceValidationPolicy(name="small-maps", description="Maps are small.", validate=only_small),
])
"""


@dataclass(frozen=True)
class PulumiProject:
    """The project's folder and what its objects live in."""

    root: Path
    context: str
    kubeconfig: Path
    namespace: str

    def create(self) -> None:
        """Write the project; it declares nothing yet."""
        options = f"{{toolchain: pip, virtualenv: {sys.prefix}}}"
        (self.root / "infra").mkdir(parents=True)
        (self.root / "stacks").mkdir()
        (self.root / "Pulumi.yaml").write_text(
            f"name: scratch-{self.namespace}\nmain: infra/\nstackConfigDir: stacks\n"
            f"runtime: {{name: python, options: {options}}}\n"
        )
        (self.root / "infra" / "__main__.py").write_text(PROGRAM)
        (self.root / "pack").mkdir()
        (self.root / "pack" / "PulumiPolicy.yaml").write_text(
            f"runtime: {{name: python, options: {options}}}\n"
        )
        (self.root / "pack" / "__main__.py").write_text(POLICY_PACK)
        self.declare()

    def declare(self, *objects: dict[str, Any], before: str = "") -> None:
        """Say what the program declares, and what Python it runs first."""
        wanted = {"context": self.context, "objects": objects, "before": before}
        (self.root / "infra" / "wanted.json").write_text(json.dumps(wanted))

    def stack(self) -> Stack:
        """The project's stack, created when it is not there yet."""
        stack = open_stack(self.root, "dev", kubeconfig=self.kubeconfig)
        stack.init_if_absent()
        return stack

    def metadata(self, name: str, **annotations: str) -> dict[str, Any]:
        """Metadata of an object of ours."""
        marks = {"pulumi.com/patchFieldManager": "holdfast"} | annotations
        return {"name": name, "namespace": self.namespace, "annotations": marks}

    def config_map(self, name: str, **data: str) -> dict[str, Any]:
        """A ConfigMap to declare."""
        return {"kind": "ConfigMap", "metadata": self.metadata(name), "data": data}

    def secret(self, name: str, **data: str) -> dict[str, Any]:
        """A Secret to declare."""
        return {"kind": "Secret", "metadata": self.metadata(name), "string_data": data}

    def deployment(self, name: str, image: str, *, held: bool = False) -> dict[str, Any]:
        """A Deployment to declare; a held one never gets ready."""
        labels = {"app": name}
        pod_annotations = {"sandbox.holdfast.dev/hold": "true"} if held else {}
        return {
            "kind": "Deployment",
            "metadata": self.metadata(name),
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels, "annotations": pod_annotations},
                    "spec": {"containers": [{"name": "agent", "image": image}]},
                },
            },
        }
