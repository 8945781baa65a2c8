"""What must hold before a commit goes on from one stack to the next. Wiring."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from holdfast.adapters.engine.state.interrupted import interrupted
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Commit
from holdfast.errors import ExitCode, HoldfastError
from holdfast.kube.workload_status import worst
from holdfast.operations.deploy.commit import equality
from holdfast.operations.deploy.facts import update_records
from holdfast.operations.scan.health import health_of_agents
from holdfast.operations.stack.commit_project import CommitProject
from holdfast.operations.stack.context import StackContext

_LINE = re.compile(r"^(Commit|Stack|Approved-By): *(\S.*?) *$", re.MULTILINE)
_SHORTEST_COMMIT = 7


class GateFailedError(HoldfastError):
    """A gate that does not let an update through.

    Attributes:
        gate: Its name.
    """

    def __init__(
        self, gate: str, why: str, *, remedy: str = "", exit_code: ExitCode = ExitCode.ERROR
    ) -> None:
        super().__init__(f"gate {gate} failed: {why}", remedy=remedy, exit_code=exit_code)
        self.gate = gate


@dataclass(frozen=True)
class Gate:
    """One gate: `check` says what it saw, or raises."""

    name: str
    check: Callable[[], str]


def check(gates: Sequence[Gate]) -> None:
    """Check gates in order, telling each; stops at the first that fails.

    Raises:
        GateFailedError: one does not hold.
    """
    for gate in gates:
        try:
            seen = gate.check()
        except GateFailedError:
            raise
        except HoldfastError as error:
            raise GateFailedError(
                gate.name, error.message, remedy=error.remedy, exit_code=error.exit_code
            ) from error
        click.echo(f"gate {gate.name}: passed: {seen}", err=True)


def promotable_update(root: Path, origin: str) -> UpdateRecord:
    """The update that brought a stack where it is.

    Raises:
        GateFailedError: it failed, or was not from a clean commit; or there is none; or one that
            was killed has left the stack half done.
    """
    if error := interrupted(StackContext(root, origin).engine()).refusal(origin):
        raise GateFailedError("source", error.message, remedy=error.remedy) from error
    done = [each for each in update_records(root, origin) if each.is_update]
    if not done:
        raise GateFailedError(
            "source",
            f"stack {origin} has never been updated",
            remedy=f"run `holdfast up -s {origin}`",
        )
    last = done[-1]
    if not last.has_succeeded:
        raise GateFailedError(
            "source",
            f"the last update of {origin}, at {last.started_at}, failed",
            remedy=f"see `holdfast history {origin}`",
        )
    if last.is_dirty or not last.commit:
        raise GateFailedError(
            "source",
            f"{origin} was last updated from files that are in no commit",
            remedy=f"commit them, and run `holdfast up -s {origin}`",
        )
    return last


def healthy(project: CommitProject, stack: str) -> str:
    """Every agent of a stack is ready."""
    verdicts = health_of_agents(project.root, stack)
    found = worst(verdicts)
    if not found.is_healthy:
        raise GateFailedError("health", f"on {stack}, {found.reason} ({found.health.value})")
    return f"{len(verdicts)} agents of {stack} are ready"


def drift_free(project: CommitProject, stack: str) -> str:
    """What runs on a stack is what its commit declares."""
    proof, code = equality(project, stack)
    if code is not ExitCode.OK:
        raise GateFailedError(
            "drift",
            f"{stack} is {proof}",
            remedy=f"see `holdfast drift -s {stack}`",
            exit_code=code,
        )
    return f"{stack} is {proof}"


def approval(file: Path | None, commit: Commit, stack: str) -> str:
    """Somebody other than the author has approved this commit for this stack."""
    if file is None:
        raise GateFailedError(
            "approval",
            f"stack {stack} asks for an approval file",
            remedy=f"have somebody write one of the lines `Commit: {commit.name}`, "
            f"`Stack: {stack}` and `Approved-By: NAME`, and name it with --approval",
        )
    try:
        said = dict(_LINE.findall(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise GateFailedError("approval", f"{file} cannot be read ({error})") from error
    wanted = {"Commit": commit.name, "Stack": stack}
    for name, value in wanted.items():
        given = said.get(name, "")
        is_same = given == value or (
            name == "Commit" and len(given) >= _SHORTEST_COMMIT and value.startswith(given)
        )
        if not is_same:
            raise GateFailedError(
                "approval", f"{file}: expected `{name}: {value}`, got {given or 'no such line'}"
            )
    approver = said.get("Approved-By", "")
    if not approver:
        raise GateFailedError("approval", f"{file}: expected a line `Approved-By: NAME`")
    if approver.casefold() in commit.author.casefold():
        raise GateFailedError(
            "approval", f"{file}: {approver} is the author of {commit.short}, and cannot approve it"
        )
    return f"by {approver}"
