"""What an update is to do, and what must hold of its files before it is planned."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from holdfast.adapters.engine.run.memory import memory_limit_bytes, refuse_too_large
from holdfast.adapters.git.source import Source
from holdfast.errors import ExitCode, HoldfastError, InputError, InvalidFilesError
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.preflight.state_ownership import ensure_handed_over
from holdfast.operations.validate.report import ValidationReport
from holdfast.operations.validate.validation import validate_stack


@dataclass(frozen=True)
class UpdateRequest:
    """How a stack is to be updated; which stack, the caller's StackContext says.

    Attributes:
        action: Verb under which it is recorded.
        reason: Why, for the history.
        dirty_reason: Why files that are not committed may be used; empty when they may not.
        pack: Folder of the policy pack; None for that of the project.
        source: What the project's files are; None to find out.
        validates: Check the files as `holdfast validate` does; the program does in any case.
        continue_on_error: Update what does not depend on what failed.
        recover: Resume after a killed run instead of refusing.
        resume_command: What resumes after a killed run, as errors say; empty for `holdfast up`.
        force_ownership: Manage what a GitOps engine manages instead of refusing.
    """

    action: str = "up"
    reason: str = ""
    dirty_reason: str = ""
    pack: Path | None = None
    source: Source | None = None
    validates: bool = True
    continue_on_error: bool = False
    recover: bool = False
    resume_command: str = ""
    force_ownership: bool = False


_MOST_FILES_NAMED = 5


def check_preconditions(
    context: StackContext, request: UpdateRequest, source: Source | None, progress: Progress
) -> None:
    """Refuse files that must not be deployed, and a stack that cannot be.

    Args:
        context: The stack.
        request: What is to be done.
        source: What its files are; None where they are in no commit.
        progress: Takes what is wrong, a line each.

    Raises:
        InputError: the files are not committed or too many, or the operator has not taken over.
        HoldfastError: they are not valid, or break a mandatory rule.
        ClusterError: the sandbox that the stack lives in is absent.
    """
    _ensure_it_fits(context)
    ensure_committed(source, request.dirty_reason)
    if request.dirty_reason and source and not source.is_dirty:
        progress.note("the files are as committed: --allow-dirty was not needed")
    if request.validates:
        _validate(context, progress)
    _ensure_handed_over(context)
    context.require_sandbox()


def _ensure_it_fits(context: StackContext) -> None:
    try:
        count = len(context.rendered)
    except HoldfastError:
        return  # the files of an old commit may be read by its code alone
    refuse_too_large(context.name, count, memory_limit_bytes())


def _ensure_handed_over(context: StackContext) -> None:
    try:
        mode = context.fleet.environment.agent_resources.mode
    except InvalidFilesError:
        return  # the files of an old commit may be read by its code alone
    if mode == "expand":
        ensure_handed_over(context.root, context.name)


def _validate(context: StackContext, progress: Progress) -> None:
    report = validate_stack(context, today=datetime.now(UTC).date())
    if not report.is_accepted:
        _note_faults(report, progress)
        raise _files_refused(report)


def ensure_committed(source: Source | None, dirty_reason: str) -> None:
    """Refuse files that are those of no commit, unless there is a reason.

    Raises:
        InputError: there is none.
    """
    if dirty_reason or (source is not None and not source.is_dirty):
        return
    remedy = "commit them, or say why not with --allow-dirty REASON"
    if source is None:
        raise InputError("the project's files are in no commit", remedy=remedy)
    names = ", ".join(source.changed[:_MOST_FILES_NAMED])
    names += ", ..." if len(source.changed) > _MOST_FILES_NAMED else ""
    raise InputError(
        f"the project's files are not as committed in {source.commit.short}: {names}",
        remedy=remedy,
    )


def _note_faults(report: ValidationReport, progress: Progress) -> None:
    for error in report.errors:
        progress.note(str(error))
    for each in report.breaches:
        progress.note(
            f"{each.location}: {each.level}: {each.subject}: {each.headline} [{each.rule}]"
        )


def _files_refused(report: ValidationReport) -> HoldfastError:
    broken = sorted({each.rule for each in report.breaches if each.is_mandatory})
    rules = f", of mandatory rules {', '.join(broken)}" if broken else ""
    return HoldfastError(
        f"the project's files are refused: {report.headline}{rules}",
        exit_code=ExitCode.BAD_INPUT if report.errors else ExitCode.POLICY,
    )
