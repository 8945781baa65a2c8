"""The project itself, copied for a test: its agents and stacks on the test's own sandbox."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast.operations.project.new_project import plan_project, write_project

from tests.e2e.live_sandbox import TIMEOUT_SECONDS, LiveSandbox

CLONE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class FleetProject:
    """A copy of the project whose `dev` stack lives in one sandbox."""

    root: Path
    sandbox: LiveSandbox

    @classmethod
    def copy(cls, root: Path, sandbox: LiveSandbox) -> "FleetProject":
        """A repository as `holdfast init` writes it, with this project's agents and stacks."""
        project = cls._empty(root, sandbox)
        for folder in ("agents", "stacks"):
            for source in (CLONE / folder).rglob("*"):
                target = root / source.relative_to(CLONE)
                if source.is_file():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    text = source.read_text()
                    target.write_text(text.replace("holdfast-default", sandbox.context))
        return project

    @classmethod
    def write(
        cls, root: Path, sandbox: LiveSandbox, manifests: str, settings: dict[str, Any]
    ) -> "FleetProject":
        """A project of a test's own: its manifests, and what its `dev` stack sets (`holdfast:`)."""
        project = cls._empty(root, sandbox)
        project.declare(manifests)
        settings = {"cluster": {"context": sandbox.context, "identifier": "dev"}, **settings}
        config = {f"holdfast:{key}": value for key, value in settings.items()}
        (root / "stacks" / "Pulumi.dev.yaml").write_text(json.dumps({"config": config}))
        return project

    def declare(self, manifests: str) -> None:
        """Write the manifests of a project of a test's own."""
        (self.root / "agents").mkdir(exist_ok=True)
        (self.root / "agents" / "declared.yaml").write_text(manifests)

    @classmethod
    def _empty(cls, root: Path, sandbox: LiveSandbox) -> "FleetProject":
        write_project(plan_project(root, "dev", None, "holdfast", manifests={}))
        return cls(root, sandbox)

    def stack(self, name: str = "dev") -> Stack:
        """A stack of the copy, ready to run."""
        return open_stack(self.root, name, kubeconfig=self.sandbox.kubeconfig())

    def pulumi(self, *arguments: str) -> None:
        """Run a plain `pulumi` on `dev`, as somebody would who knows nothing of Holdfast."""
        runner = self.stack().runner
        done = runner.run([*arguments, "--stack", "dev"], lambda _: None, TIMEOUT_SECONDS)
        assert done.exit_code == 0, done.errors

    def holdfast(
        self,
        *arguments: str,
        hash_seed: str = "random",
        variables: Mapping[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a verb inside the copy; the exit code is the caller's to judge."""
        ours = {"HOLDFAST_STATE": str(self.sandbox.state), "PYTHONHASHSEED": hash_seed}
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | ours | dict(variables or {}),
            timeout=TIMEOUT_SECONDS,
        )

    def drift(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Exit code and JSON report of a scan of `dev`."""
        done = self.holdfast("drift", "-s", "dev", "-o", "json", *arguments)
        assert done.stdout, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return done.returncode, report
