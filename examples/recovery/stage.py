"""Where the story of recovery takes place: a repository and a state folder of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from holdfast.operations.project.new_project import plan_project, write_project

from examples.demo.stage import ROOT, STACK, DemoError, show
from examples.recovery.stand_ins import Cluster

SANDBOX = "recovery"
_AUTHOR = ("-c", "user.name=Ann", "-c", "user.email=ann@example.test")


@dataclass(frozen=True)
class Stage:
    """A folder for all of it; whoever made it removes it.

    Attributes:
        folder: Holds the repository, the state, and what is outside of the cluster.
        variables: Over the ambient environment, for every command.
    """

    folder: Path
    variables: Mapping[str, str]

    @classmethod
    def build(cls, folder: Path) -> "Stage":
        """Lay out the repository: the project's own agents, and a stack file of the story's."""
        stage = cls(folder, {"HOLDFAST_STATE": str(folder / "state")})
        write_project(plan_project(stage.repository, STACK, None, "holdfast", manifests={}))
        shutil.copytree(ROOT / "agents", stage.repository / "agents", dirs_exist_ok=True)
        shutil.copy(Path(__file__).with_name("Pulumi.dev.yaml"), stage.repository / "stacks")
        stage.git("init", "--quiet")
        stage.commit("The fleet")
        return stage

    @property
    def repository(self) -> Path:
        """What is wanted."""
        return self.folder / "repository"

    @property
    def state(self) -> Path:
        """Pulumi's state, a folder here."""
        return self.folder / "state" / "pulumi-state"

    @property
    def cluster(self) -> Cluster:
        """The sandbox, for the stand-ins."""
        return Cluster(self.folder / "state" / "sandboxes" / SANDBOX / "admin.kubeconfig")

    @property
    def audit_log(self) -> Path:
        """What was written to the cluster, by whom."""
        return self.cluster.kubeconfig.with_name("audit.log")

    def holdfast(self, *arguments: str, expected: Sequence[int] = (0,)) -> int:
        """Run a verb as a person would, and let its output through.

        Raises:
            DemoError: it ended in an exit code that the story does not expect.
        """
        show(f"holdfast {' '.join(_quoted(each) for each in arguments)}")
        done = subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *arguments],
            cwd=self.repository,
            env=os.environ | dict(self.variables),
            check=False,
        )
        if done.returncode not in expected:
            raise DemoError(f"holdfast {arguments[0]} ended in exit code {done.returncode}")
        return done.returncode

    def git(self, *arguments: str) -> None:
        """Run Git in the repository."""
        subprocess.run(["git", *_AUTHOR, *arguments], cwd=self.repository, check=True)

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "--quiet", f"--message={message}")

    def lose_state(self) -> None:
        """Delete Pulumi's state as a broken disk would."""
        show(f"rm -r {self.state.relative_to(self.folder)}")
        shutil.rmtree(self.state)


def up(stage: Stage, reason: str) -> None:
    """Update, without the list of every object."""
    show(f"holdfast up -s {STACK} --reason {_quoted(reason)}")
    done = subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", "up", "-s", STACK, "--reason", reason],
        cwd=stage.repository,
        env=os.environ | dict(stage.variables),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DemoError(f"holdfast up: {done.stderr.strip()}")
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("would ", "  "))]
    click.echo("\n".join(lines))


def _quoted(argument: str) -> str:
    return f'"{argument}"' if " " in argument else argument
