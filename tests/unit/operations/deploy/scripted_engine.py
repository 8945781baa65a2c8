"""A `pulumi` that does what a test's shell scripts say, for a project in a Git repository."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.unit.adapters.git.repository import commit_all
from tests.unit.operations.declared_project import DeclaredProject

PULUMI = """#!/bin/sh
here=$(dirname "$0")
case "$1" in
  version) echo v3.259.0; exit 0;;
  stack) name="$1-$2";;
  *) name="$1";;
esac
echo "$*" >> "$here/calls"
if [ -f "$here/$name.sh" ]; then . "$here/$name.sh"; fi
"""
STATE = {
    "version": 3,
    "checkpoint": {"stack": "organization/demo/dev", "latest": {"resources": []}},
}


def step_event(operation: str, agent: str) -> dict[str, Any]:
    """One step of a preview or an update: an agent's Deployment."""
    inputs = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": agent, "namespace": "loop"},
    }
    state = {"type": "kubernetes:apps/v1:Deployment", "inputs": inputs}
    urn = f"urn:pulumi:dev::demo::kubernetes:apps/v1:Deployment::{agent}"
    metadata = {"op": operation, "urn": urn, "type": state["type"], "old": state, "new": state}
    return {"resOutputsEvent": {"metadata": metadata}}


def violation(rule: str) -> dict[str, Any]:
    """A mandatory rule that is broken."""
    return {
        "policyEvent": {
            "message": "no",
            "policyName": rule,
            "policyPackName": "pack",
            "enforcementLevel": "mandatory",
        }
    }


@dataclass(frozen=True)
class ScriptedEngine:
    """The project, its backend in a folder, and what the engine does when it is called."""

    folder: Path
    project: DeclaredProject

    @classmethod
    def write(
        cls,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        *manifests: str,
        settings: dict[str, Any] | None = None,
        has_stack: bool = True,
    ) -> "ScriptedEngine":
        """Declare agents in a repository, and put the engine in its place."""
        project = DeclaredProject.write(folder / "project", *manifests, settings=settings)
        commit_all(project.root, "Declare")
        engine = cls(folder / "engine", project)
        engine.folder.mkdir()
        program = engine.folder / "pulumi"
        program.write_text(PULUMI)
        program.chmod(0o755)
        monkeypatch.setenv("HOLDFAST_PULUMI", str(program))
        monkeypatch.setenv("HOLDFAST_STATE", str(folder / "state"))
        monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{folder / 'backend'}")
        for variable in ("OTEL_EXPORTER_OTLP_ENDPOINT", "GITHUB_REF", "HOLDFAST_PULL_REQUEST"):
            monkeypatch.delenv(variable, raising=False)
        engine.on(
            "stack-init",
            f"mkdir -p {engine.checkpoint.parent}",
            f"echo '{json.dumps(STATE)}' > {engine.checkpoint}",
            f"echo 'encryptionsalt: v1:x' >> {engine.stack_file}",
        )
        if has_stack:
            engine.checkpoint.parent.mkdir(parents=True)
            engine.checkpoint.write_text(json.dumps(STATE))
        return engine

    @property
    def checkpoint(self) -> Path:
        """The state of the stack."""
        return self.folder.parent / "backend" / ".pulumi" / "stacks" / "demo" / "dev.json"

    @property
    def stack_file(self) -> Path:
        """The settings of the stack."""
        return self.project.root / "stacks" / "Pulumi.dev.yaml"

    def on(self, command: str, *lines: str) -> None:
        """Say what a command does, in shell."""
        (self.folder / f"{command}.sh").write_text("\n".join([*lines, ""]))

    def events(self, command: str, *events: dict[str, Any], then: str = "") -> None:
        """Say which events a command tells."""
        said = "".join(f"{json.dumps(each)}\n" for each in events)
        (self.folder / f"{command}.events").write_text(said)
        self.on(command, f"cat {self.folder / f'{command}.events'}", then)

    def calls(self) -> list[str]:
        """The command of every call so far: `preview`, `up`, `stack init`, ..."""
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [" ".join(line.split()[: 2 if line.startswith("stack") else 1]) for line in lines]
