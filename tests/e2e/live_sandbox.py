"""A running sandbox as the end-to-end tests see it: through the command line and kubectl."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.run.toolchain import find_program

TIMEOUT_SECONDS = 180


def run_holdfast(
    *arguments: str, state: Path | None = None, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run `holdfast` as a user would; the exit code is the caller's to judge."""
    environment = os.environ | dict(variables or {})
    if state is not None:
        environment["HOLDFAST_STATE"] = str(state)
    return subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=TIMEOUT_SECONDS,
    )


@dataclass(frozen=True)
class LiveSandbox:
    """A sandbox that runs for the length of a test or session.

    Attributes:
        name: Its name.
        state: The folder that HOLDFAST_STATE names.
        directory: The sandbox's own folder.
        context: Context name in each of its kubeconfigs.
        audit_log: Who changed what.
    """

    name: str
    state: Path
    directory: Path
    context: str
    audit_log: Path

    @classmethod
    def start(cls, name: str, state: Path, *options: str) -> "LiveSandbox":
        """Bring a sandbox up; everything about it is read from the command's JSON."""
        done = run_holdfast("sandbox", "up", "--name", name, "-o", "json", *options, state=state)
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        return cls(
            name=name,
            state=state,
            directory=Path(document["directory"]),
            context=document["context"],
            audit_log=Path(document["auditLog"]),
        )

    def stop(self) -> None:
        """Bring it down and remove it."""
        done = self.run("down")
        assert done.returncode == 0, done.stderr

    def run(self, verb: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run `holdfast sandbox VERB` on this sandbox."""
        return run_holdfast("sandbox", verb, "--name", self.name, *arguments, state=self.state)

    def status(self) -> dict[str, Any]:
        """What `holdfast sandbox status -o json` says."""
        document: dict[str, Any] = json.loads(self.run("status", "-o", "json").stdout)
        return document

    def pids(self) -> dict[str, int]:
        """Process of each program."""
        return {program["name"]: program["pid"] for program in self.status()["programs"]}

    def kubeconfig(self, user: str = "admin") -> Path:
        """Kubeconfig of admin, alice or bob."""
        return self.directory / f"{user}.kubeconfig"

    def audit_events(self) -> list[dict[str, Any]]:
        """Everything in the audit log."""
        return [json.loads(line) for line in self.audit_log.read_text().splitlines()]


@dataclass(frozen=True)
class Kubectl:
    """The built kubectl on one sandbox."""

    sandbox: LiveSandbox

    def __call__(self, *arguments: str, user: str = "admin", stdin: str | None = None) -> str:
        """Run it; a failure fails the test."""
        done = self.run(*arguments, user=user, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(
        self, *arguments: str, user: str = "admin", stdin: str | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run it and judge nothing."""
        variables = {
            "KUBECONFIG": str(self.sandbox.kubeconfig(user)),
            "KUBECACHEDIR": str(self.sandbox.state / "kubectl-cache"),
        }
        return subprocess.run(
            [find_program("kubectl"), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | variables,
            timeout=TIMEOUT_SECONDS,
        )

    def get(self, *arguments: str, user: str = "admin") -> dict[str, Any]:
        """`kubectl get ... -o json`."""
        document: dict[str, Any] = json.loads(self("get", *arguments, "-o", "json", user=user))
        return document

    def raw(self, path: str) -> dict[str, Any]:
        """`kubectl get --raw PATH`."""
        document: dict[str, Any] = json.loads(self("get", "--raw", path))
        return document

    def apply(self, *objects: dict[str, Any], user: str = "admin") -> None:
        """Apply objects by server-side apply."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        # The server validates by itself; asking it for all of its schemas first takes long.
        options = ("--server-side", "--validate=false", "-f", "-")
        self("apply", *options, user=user, stdin=json.dumps(listed))

    def wait_for(self, condition: str, *what: str, seconds: int = 30) -> None:
        """Wait until an object meets a condition of `kubectl wait --for`."""
        self("wait", f"--for={condition}", f"--timeout={seconds}s", *what)
