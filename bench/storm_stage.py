"""What a storm goes over: a sandbox behind a faulty proxy, a stack held by a loop and an operator.

All of Holdfast reaches the cluster through the proxy; the hands that edit go straight to it.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.run.toolchain import find_program
from holdfast.adapters.engine.stack import open_stack
from holdfast.adapters.engine.state.baseline import state_files
from holdfast.adapters.git.repository import run_git
from holdfast.operations.project.new_project import plan_project, write_project
from holdfast.sandbox import control_plane
from holdfast.sandbox.definitions import install_definitions
from holdfast.sandbox.paths import SandboxPaths, sandbox_paths

from bench.fleet import AGENT
from tests.e2e.faulty_proxy import FaultyProxy, faulty_proxy

STACK = "storm"
NAMESPACE = "bench"
BRANCH = "main"
_SETTINGS = """\
config:
  holdfast:cluster: {context: proxy, identifier: storm}
  holdfast:agentResources: {mode: observe}
  holdfast:policy: {profile: dev}
"""
_IDENTITY = ("-c", "user.name=Storm", "-c", "user.email=storm@example.test")


@dataclass
class Member:
    """A program of Holdfast's that is kept running; it logs JSON lines.

    Attributes:
        arguments: After `holdfast`.
        expected_ends: How often we have ended it.
        tracebacks: What was raised and nobody handled, each as it was printed.
        ends: How often it has ended, by exit code.
        lines: What it has said.
    """

    name: str
    arguments: tuple[str, ...]
    folder: Path
    variables: dict[str, str]
    log: Path
    ends: list[int] = field(default_factory=list)
    expected_ends: int = 0
    tracebacks: list[str] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    process: "subprocess.Popen[str] | None" = None

    def keep_running(self) -> None:
        """Start it when it does not run, as its supervisor would."""
        if self.process is not None and self.process.poll() is None:
            return
        if self.process is not None:
            self.ends.append(self.process.returncode)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast.cli.main", *self.arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env=os.environ | self.variables,
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        was_raised = False
        with self.log.open("a") as log:
            for line in process.stdout:
                log.write(line)
                log.flush()
                is_record = line.startswith("{")
                if is_record:
                    self.lines.append(json.loads(line))
                if line.startswith("Traceback"):
                    self.tracebacks.append(line)
                elif was_raised and not is_record:
                    self.tracebacks[-1] += line
                was_raised = line.startswith("Traceback") or (was_raised and not is_record)

    @property
    def unexpected_ends(self) -> int:
        """How often it ended although nobody had told it to."""
        return len(self.ends) - self.expected_ends

    def address(self, phase: str) -> str:
        """Where it listens since its last start; empty when it has not said so yet."""
        said = [line for line in tuple(self.lines) if line.get("phase") == phase]
        return str(said[-1]["address"]) if said else ""


@dataclass
class Stage:
    """A stage that is set.

    Attributes:
        root: The project, a clone of `bare`.
        bare: The repository that the loop follows.
        released_locks: How often the lock of a dead engine was released.
        proxy: What stands between Holdfast and the API server.
    """

    root: Path
    bare: Path
    place: SandboxPaths
    proxy: FaultyProxy
    operator: Member
    loop: Member
    agents: int
    versions: dict[int, int] = field(default_factory=dict)
    released_locks: int = 0

    @property
    def members(self) -> tuple[Member, ...]:
        """Everything that is kept running."""
        return self.operator, self.loop

    def end(self) -> None:
        """End everything that is kept running."""
        for member in self.members:
            process = member.process
            if process is not None and process.poll() is None:
                process.terminate()
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def kubectl(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """Run kubectl straight on the server."""
        return subprocess.run(
            [str(find_program("kubectl")), *arguments],
            env=os.environ | {"KUBECONFIG": str(self.place.kubeconfig())},
            check=False,
            capture_output=True,
            input=stdin,
            text=True,
        )

    def holdfast(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a verb on the stack, through the proxy."""
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *arguments],
            env=os.environ | self.loop.variables,
            cwd=self.root,
            check=False,
            capture_output=True,
            text=True,
        )

    def engine(self, *arguments: str) -> int:
        """Run a plain `pulumi` on the stack, as a person would; its exit code."""
        file = Path(self.loop.variables["KUBECONFIG"])
        runner = open_stack(self.root, STACK, kubeconfig=file).runner
        return runner.run([*arguments, "--stack", STACK], lambda _: None, 300.0).exit_code

    def release_dead_lock(self) -> None:
        """What a person does about the lock of an engine that is dead: `pulumi cancel`."""
        files = state_files(self.root, STACK)
        assert files is not None
        locks = files.locks_folder.glob("*.json")
        holders = {json.loads(lock.read_text() or "{}").get("pid", 0) for lock in locks}
        if holders and not any((Path("/proc") / str(pid)).exists() for pid in holders):
            self.engine("cancel", "--yes")
            self.released_locks += 1

    def commit(self, *numbers: int) -> None:
        """Push a new version of these agents."""
        for number in numbers:
            version = self.versions[number] = self.versions.get(number, 0) + 1
            self.declare(number, version)
        run_git(self.root, "add", "-A")
        run_git(self.root, *_IDENTITY, "commit", "--quiet", "-m", f"Move {numbers}")
        run_git(self.root, "push", "--quiet", "origin", f"HEAD:{BRANCH}")

    def declare(self, number: int, version: int = 0) -> None:
        """Write one agent's manifest."""
        text = AGENT.format(number=number, team=number % 7, block=number, digest=f"{number:064x}")
        lines = [
            f"  version: 1.{number}.{version}" if "  version:" in line else line
            for line in text.splitlines()
        ]
        lines.append("  drift: {mode: revert}")
        file = self.root / "agents" / f"agent-{number:03}.yaml"
        file.write_text("\n".join(lines) + "\n")


@contextmanager
def stage(folder: Path, agents: int, report: Any) -> Iterator[Stage]:  # noqa: ANN401  (takes a line)
    """Set a stage in a folder; everything is gone afterwards."""
    os.environ["HOLDFAST_STATE"] = str(folder / "state")
    place = sandbox_paths("storm")
    control_plane.up(place, report)
    try:
        install_definitions(place, ("holdfast",), report)
        with faulty_proxy(place.kubeconfig()) as proxy:
            proxy_file = proxy.kubeconfig(folder)
            variables = {"KUBECONFIG": str(proxy_file)}
            root, bare = folder / "project", folder / "fleet.git"
            lease = ("--lease", "default/holdfast-storm", "--resync", "30")
            operator = Member(
                "operator",
                ("operator", "run", "-s", STACK, "--listen", "127.0.0.1:0", *lease),
                folder,
                variables,
                folder / "operator.log",
            )
            follow = ("--repo", str(bare), "--interval", "3", "--resync", "20")
            loop = Member(
                "loop",
                ("gitops", "run", "-s", STACK, *follow, "--listen", "127.0.0.1:0", "-o", "json"),
                folder,
                variables,
                folder / "loop.log",
            )
            set_stage = Stage(root, bare, place, proxy, operator, loop, agents)
            _write_project(set_stage)
            yield set_stage
    finally:
        control_plane.down(place, report, keeps_data=False)


def _write_project(stage: Stage) -> None:
    root = stage.root
    write_project(plan_project(root, STACK, None, "holdfast", manifests={}))
    (root / "agents").mkdir(exist_ok=True)
    (root / "stacks" / f"Pulumi.{STACK}.yaml").write_text(_SETTINGS)
    for number in range(stage.agents):
        stage.declare(number)
    run_git(root, "init", "--quiet", f"--initial-branch={BRANCH}")
    open_stack(root, STACK).init_if_absent()
    run_git(root, "add", "-A")
    run_git(root, *_IDENTITY, "commit", "--quiet", "-m", "Declare the fleet")
    run_git(root, "clone", "--quiet", "--bare", str(root), str(stage.bare))
    run_git(root, "remote", "add", "origin", str(stage.bare))
