"""The commit of one stack brought to another, past its gates."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.state.interrupted import interrupted
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Commit, commit_named
from holdfast.adapters.tracing.spans import UNTRACED, Tracer
from holdfast.errors import ExitCode, HoldfastError, InputError
from holdfast.kube.workload_status import worst
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.deploy.commit import CommitDeployment, planned_deployment
from holdfast.operations.deploy.guarded import GuardedUpdate
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.deploy.verification import verify
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.scan.health import health_of_agents
from holdfast.operations.stack.commit_project import CommitProject
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import update_records

_LINE = re.compile(r"^(Commit|Stack|Approved-By): *(\S.*?) *$", re.MULTILINE)
_PERSON = re.compile(r"(?P<name>[^<>]*)(?:<(?P<address>[^<>]*)>)?\s*")
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
class PromotionRequest:
    """What is to be promoted.

    Attributes:
        origin: Stack whose commit is taken.
        target: Stack that it is brought to.
        approval: File that approves it; None where none is given.
        reason: Why, for the history.
        recover: Resume after a killed run of the target instead of refusing.
    """

    origin: str
    target: str
    approval: Path | None = None
    reason: str = ""
    recover: bool = False
    engine_timeout_seconds: float = StackContext.engine_timeout_seconds


@dataclass(frozen=True)
class Promotion:
    """A promotion that all gates let through; nothing has been written.

    Attributes:
        commit: What is promoted.
    """

    commit: Commit
    deployment: CommitDeployment
    home: StackContext

    def apply(self) -> UpdateRecord:
        """Do it: guarded as the target's file says, and verified.

        Raises:
            EngineError: failed, worse or not equal afterwards; the history says why.
        """
        return self.deployment.apply(GuardedUpdate(self.deployment.update, self.home))


@contextmanager
def planned_promotion(
    root: Path,
    wanted: PromotionRequest,
    progress: Progress = SILENT,
    tracer: Tracer = UNTRACED,
) -> Iterator[Promotion]:
    """Plan a promotion and check its gates; an error in the body refuses it in the history.

    Raises:
        GateFailedError: a gate does not hold.
        EngineError: the policy pack refuses it, or a killed run has left the target unfinished.
    """
    origin, target = wanted.origin, wanted.target
    if origin == target:
        raise InputError("--from and --to are the same stack", remedy="name two")
    settings = read_stack_file(root, target).environment
    needs_approval = settings is not None and settings.updates.require_approval
    commit = commit_named(root, promotable_update(root, origin).commit)
    request = UpdateRequest(
        action="promote",
        reason=wanted.reason or f"promoted from {origin}",
        recover=wanted.recover,
        resume_command=f"holdfast promote --from {origin} --to {target} --recover",
    )
    home = StackContext(root, target, wanted.engine_timeout_seconds)
    with planned_deployment(home, commit, request, progress, tracer) as deployment:
        project = deployment.project
        _passed("health", check_health(project, origin), progress)
        _passed("drift", check_drift(project, origin), progress)
        if needs_approval or wanted.approval is not None:
            _passed("approval", check_approval(wanted.approval, commit, target), progress)
        yield Promotion(commit, deployment, home)


def _passed(gate: str, seen: str, progress: Progress) -> None:
    progress.step(f"gate {gate}: passed: {seen}")


def promotable_update(root: Path, origin: str) -> UpdateRecord:
    """The update that brought a stack where it is.

    Raises:
        GateFailedError: it failed, or was not from a clean commit; or there is none; or one that
            was killed has left the stack unfinished.
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


def check_health(project: CommitProject, stack: str) -> str:
    """Every agent of a stack is ready; says how many.

    Raises:
        GateFailedError: one is not, or its health cannot be read.
    """
    try:
        verdicts = health_of_agents(StackContext(project.root, stack))
    except HoldfastError as error:
        raise GateFailedError(
            "health", error.message, remedy=error.remedy, exit_code=error.exit_code
        ) from error
    found = worst(verdicts)
    if not found.is_healthy:
        raise GateFailedError("health", f"on {stack}, {found.reason} ({found.health.value})")
    return f"{len(verdicts)} agents of {stack} are ready"


def check_drift(project: CommitProject, stack: str) -> str:
    """What runs on a stack is what its commit declares; says what was compared.

    Raises:
        GateFailedError: it is not, or not everything could be compared.
    """
    found = verify(project, stack)
    if not found.is_equal:
        raise GateFailedError(
            "drift",
            f"{stack} is {found.text}",
            remedy=f"see `holdfast drift -s {stack}`",
            exit_code=found.exit_code,
        )
    return f"{stack} is {found.text}"


def check_approval(file: Path | None, commit: Commit, stack: str) -> str:
    """A person other than the author has approved this commit for this stack; says who.

    Raises:
        GateFailedError: the file is missing, or approves something else, or by the author.
    """
    if file is None:
        raise GateFailedError(
            "approval",
            f"stack {stack} asks for an approval file",
            remedy=f"have another person write one of the lines `Commit: {commit.name}`, "
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
    if is_same_person(approver, commit.author):
        raise GateFailedError(
            "approval", f"{file}: {approver} is the author of {commit.short}, and cannot approve it"
        )
    return f"by {approver}"


def is_same_person(one: str, other: str) -> bool:
    """Whether two of `Name`, `address` and `Name <address>` may be one person.

    The same address is the same person, and so is the same name; of a name some words may be left
    out, or be initials. A login is the part of an address before its `@`.
    """
    (name, address), (other_name, other_address) = _person(one), _person(other)
    if address and address == other_address:
        return True
    login, other_login = address.partition("@")[0], other_address.partition("@")[0]
    if (login and login == other_name) or (other_login and other_login == name):
        return True
    shorter, longer = sorted((name.split(), other_name.split()), key=len)
    return bool(shorter) and all(
        any(_is_same_word(word, each) for each in longer) for word in shorter
    )


def _person(text: str) -> tuple[str, str]:
    """Name and address, in small letters; empty where they are not given."""
    found = _PERSON.fullmatch(text.strip())
    name, address = (found["name"], found["address"] or "") if found else (text, "")
    if not address and "@" in name:
        name, address = "", name
    words = name.replace(".", ". ").replace(",", " ").casefold().split()
    return " ".join(words), address.strip().casefold()


def _is_same_word(one: str, other: str) -> bool:
    shorter, longer = sorted((one.removesuffix("."), other.removesuffix(".")), key=len)
    return shorter == longer or (len(shorter) == 1 and longer.startswith(shorter))
