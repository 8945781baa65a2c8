"""A project in a Git repository of a test's own, deployed to the test's sandbox."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import LiveSandbox
from tests.unit.adapters.git.repository import commit_all

DIGEST = "3c8e1f2a4b5d6c7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e"
IMAGE = f"registry.example/any@sha256:{DIGEST}"


def agent(name: str, version: str = "1.0.0", more: str = "") -> str:
    """A manifest of the least that an agent is; `more` goes below `spec`."""
    return f"""\
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: {name}, namespace: loop}}
spec:
  version: {version}
  image: {IMAGE}
{more}"""


@dataclass(frozen=True)
class GitProject:
    """A project whose files are committed."""

    project: FleetProject

    @classmethod
    def write(
        cls,
        root: Path,
        sandbox: LiveSandbox,
        manifests: str,
        settings: dict[str, Any] | None = None,
    ) -> "GitProject":
        """A repository with the project's first commit; its stack `dev` exists."""
        project = FleetProject.write(root, sandbox, manifests, settings or {})
        (root / ".gitignore").write_text(".venv\n")
        project.stack().init_if_absent()
        written = cls(project)
        written.commit("Declare the agents")
        return written

    @property
    def root(self) -> Path:
        """Folder of the repository and of Pulumi.yaml."""
        return self.project.root

    def commit(self, message: str, manifests: str = "") -> str:
        """Commit everything, with these manifests if there are any; the commit."""
        if manifests:
            self.project.declare(manifests)
        return commit_all(self.root, message)
