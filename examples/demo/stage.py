"""What the story is told with: commands shown and run, engine runs with progress, headings."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from holdfast.adapters.engine.run.events import Event, StepDone
from holdfast.adapters.engine.run.toolchain import find_program
from holdfast.adapters.engine.stack import Stack
from holdfast.operations.stack.context import StackContext
from holdfast.sandbox.paths import sandbox_paths

ROOT: Final = Path(__file__).resolve().parents[2]
STACK = "dev"


class DemoError(Exception):
    """A step did not end as the story says it must."""


@dataclass
class Clock:
    """Seconds since the story began."""

    begun: float

    def heading(self, text: str) -> None:
        """Begin a chapter."""
        seconds = time.monotonic() - self.begun
        click.echo()
        click.secho(f"── {text} ", bold=True, nl=False)
        click.secho(f"({seconds:.0f} s)", dim=True)


def say(text: str) -> None:
    """A sentence of the narrator."""
    click.echo(f"   {text}")


def show(command: str) -> None:
    """The command that a person would type."""
    click.secho(f"$ {command}", fg="cyan")


def holdfast(*arguments: str, expected: Sequence[int] = (0,)) -> int:
    """Run a verb as a person would and let its output through.

    Raises:
        DemoError: it ended in an exit code that the story does not expect.
    """
    show(f"holdfast {' '.join(arguments)}")
    done = subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", *arguments], cwd=ROOT, check=False
    )
    if done.returncode not in expected:
        raise DemoError(f"holdfast {arguments[0]} ended in exit code {done.returncode}")
    return done.returncode


def as_alice(*arguments: str) -> None:
    """Run kubectl as alice, who may edit workloads.

    Raises:
        DemoError: the API server refused.
    """
    show(f"kubectl {' '.join(_shortened(argument) for argument in arguments)}")
    kubeconfig = sandbox_paths().kubeconfig("alice")
    done = subprocess.run(
        [str(find_program("kubectl")), *arguments],
        env=os.environ | {"KUBECONFIG": str(kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DemoError(f"kubectl {arguments[0]}: {done.stderr.strip()}")
    say(done.stdout.strip())


def open_dev(root: Path = ROOT) -> Stack:
    """The stack `dev` of a project, ready to run."""
    return StackContext(root, STACK).engine()


class Progress:
    """Counts the steps of an engine run on one line of a terminal, or every 20 on plain output."""

    def __init__(self) -> None:
        self.done = 0
        self.is_terminal = sys.stdout.isatty()

    def __call__(self, event: Event) -> None:
        """Take one event of the engine."""
        if not isinstance(event, StepDone):
            return
        self.done += 1
        if self.is_terminal:
            click.echo(f"\r   {self.done} resources", nl=False)

    def end(self, outcome: str, seconds: float) -> None:
        """Say how the run ended."""
        click.echo(f"{chr(13) if self.is_terminal else ''}   {outcome} in {seconds:.1f} s")


def _shortened(argument: str) -> str:
    quoted = f"'{argument}'" if any(mark in argument for mark in ' {["') else argument
    limit = 90
    return quoted if len(quoted) <= limit else f"{quoted[:limit]}…'"
