"""A small project on disk, with a kubeconfig that leads to a test's own API server."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.operations.stack.context import StackContext

DIGEST = "3c8e1f2a4b5d6c7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e"
IMAGE = f"registry.example/any@sha256:{DIGEST}"
CONTEXT = "test-cluster"


def manifest(name: str, more: str = "") -> str:
    """The least that an agent is; `more` goes below `spec`."""
    return (
        "---\napiVersion: holdfast.dev/v1alpha1\nkind: Agent\n"
        f"metadata: {{name: {name}, namespace: loop}}\n"
        f"spec:\n  version: 1.0.0\n  image: {IMAGE}\n{more}"
    )


def deployment(name: str, *, is_ready: bool) -> dict[str, Any]:
    """A live Deployment of one pod: available, or past its deadline."""
    ready = "True" if is_ready else "False"
    conditions = [{"type": "Available", "status": ready}]
    if not is_ready:
        late = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
        conditions.append({**late, "message": "too late"})
    return {
        "metadata": {"name": name, "namespace": "loop", "generation": 1},
        "spec": {"replicas": 1},
        "status": {
            "observedGeneration": 1,
            "replicas": 1,
            "updatedReplicas": 1,
            "availableReplicas": int(is_ready),
            "readyReplicas": int(is_ready),
            "conditions": conditions,
        },
    }


@dataclass(frozen=True)
class DeclaredProject:
    """The folder of a project with agents and one stack, `dev`."""

    root: Path

    @classmethod
    def write(
        cls, root: Path, *manifests: str, settings: dict[str, Any] | None = None
    ) -> "DeclaredProject":
        """Declare these agents."""
        for folder in ("agents", "stacks"):
            (root / folder).mkdir(parents=True)
        (root / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
        (root / "agents" / "declared.yaml").write_text("".join(manifests))
        config = {"holdfast:cluster": {"context": CONTEXT}, "holdfast:policy": {"profile": "dev"}}
        config |= settings or {}
        (root / "stacks" / "Pulumi.dev.yaml").write_text(json.dumps({"config": config}))
        return cls(root)

    def context(self) -> StackContext:
        """The stack."""
        return StackContext(self.root, "dev")

    def forget_files(self) -> None:
        """Delete what is declared: from now on it cannot be loaded any more."""
        shutil.rmtree(self.root / "agents")
        shutil.rmtree(self.root / "stacks")


def write_kubeconfig(file: Path, server: str) -> Path:
    """A kubeconfig whose one context is that of the projects here."""
    file.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [{"name": CONTEXT, "context": {"cluster": "c", "user": "u"}}],
                "current-context": CONTEXT,
            }
        )
    )
    return file
