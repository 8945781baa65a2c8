"""What an update is to do, as verbs and the loop order it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import click

from holdfast.adapters.git.source import Source
from holdfast.adapters.tracing.spans import UNTRACED, Tracer
from holdfast.operations.stack.project import PACK_FOLDER

Tell = Callable[[str], None]


def tell_terminal(text: str) -> None:
    """Progress, for people."""
    click.echo(text, err=True)


@dataclass(frozen=True)
class Order:
    """What is to be done.

    Attributes:
        root: Folder of the project whose files are wanted.
        stack: Name of the stack.
        action: Verb under which it is recorded.
        reason: Why, in the words of whoever does it.
        dirty_reason: Why files that are not committed may be used; empty when they may not.
        pack: Folder of the policy pack; None for that of `root`.
        source: What the files of `root` are; None to find out.
        is_validated: Check the files as `holdfast validate` does; the program does in any case.
        continues_on_error: What does not depend on what failed is updated all the same.
        recovers: Take up what a killed run has left, in place of refusing to.
        again: Command that goes on after a killed run; empty for `holdfast up`.
        takes_over: Deliver what a GitOps engine has delivered, in place of refusing to.
        tell: Takes lines of progress.
        tracer: Records the steps.
    """

    root: Path
    stack: str
    action: str = "up"
    reason: str = ""
    dirty_reason: str = ""
    pack: Path | None = None
    source: Source | None = None
    is_validated: bool = True
    continues_on_error: bool = False
    recovers: bool = False
    again: str = ""
    takes_over: bool = False
    tell: Tell = field(default=tell_terminal)
    tracer: Tracer = UNTRACED

    @property
    def pack_folder(self) -> Path | None:
        """The policy pack, if the project has one."""
        folder = self.pack or self.root / PACK_FOLDER
        return folder if folder.is_dir() else None


@dataclass(frozen=True)
class Wave:
    """A part of an update that is done before the rest.

    Attributes:
        name: For people: `1 of 3: search, index`.
        urns: Resources to update.
        gate: Called afterwards; raises to end the update there.
    """

    name: str
    urns: tuple[str, ...]
    gate: Callable[[], None]
