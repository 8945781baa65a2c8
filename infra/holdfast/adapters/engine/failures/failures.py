"""The engine's failures in our words: what is wrong, what to do, and how the process ends."""

import re

import holdfast.errors
from holdfast.adapters.engine.backend.lock_holder import locked_error, recovery_command
from holdfast.adapters.engine.failures.reasons import Reason, explain, explain_refusal
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import Diagnostic, PolicyViolation
from holdfast.adapters.engine.run.process import Finished
from holdfast.errors import EngineError, ExitCode, HoldfastError
from holdfast.kube.conditions import join_names

_PULUMI_EXIT_CODES = {
    2: ExitCode.BAD_INPUT,
    3: ExitCode.AUTHENTICATION,
    6: ExitCode.NO_STACK,
    8: ExitCode.CANCELLED,
}
_OUTPUT_LINES = 12
_STACK_TYPE = "pulumi:pulumi:Stack"
_BROKEN_OFF = "context canceled"
_NOT_REGISTERED = "ResourceRegistrationFailed"


class RunFailedError(EngineError):
    """A run of the engine that did not succeed.

    Attributes:
        result: What was done, found and said until it failed.
    """

    def __init__(
        self, message: str, result: RunResult, *, remedy: str = "", exit_code: ExitCode
    ) -> None:
        super().__init__(message, remedy=remedy, exit_code=exit_code)
        self.result = result


def run_failure(
    stack: str, finished: Finished, result: RunResult, resume_command: str = ""
) -> EngineError | None:
    """The error that a run ends in; None when it succeeded.

    The first of these: we stopped it; another run holds the lock, so that nothing was begun; a
    mandatory rule refused it; several resources failed, each for a reason of its own; a reason that
    is known by its text; the engine's own words.

    Args:
        stack: Name of the stack.
        finished: How the process ended.
        result: What its events amount to.
        resume_command: What resumes after a killed run; default `holdfast up --recover`.

    Returns:
        A `RunFailedError`, or a `StackLockedError`.
    """
    if finished.exit_code == 0 and not finished.timed_out:
        return None
    resume = resume_command or recovery_command(stack)
    stopped = _stopped(stack, resume, finished, result)
    if stopped is None and (locked := locked_error(_text_of(finished, result), stack)):
        return locked
    reason = (
        stopped
        or _refused(stack, result.mandatory_violations)
        or _failed_for_several_reasons(stack, result, resume)
        or explain(_text_of(finished, result), stack, resume)
        or _program_failed(result)
        or _failed_resources(stack, result, resume)
        or _said(resume, finished, result)
    )
    return RunFailedError(
        reason.message, result, remedy=reason.remedy, exit_code=ExitCode(reason.exit_code)
    )


def command_failure(command: str, stack: str, finished: Finished) -> EngineError | None:
    """The error that a command without events ends in, such as an export; None for success."""
    if finished.exit_code == 0 and not finished.timed_out:
        return None
    text = finished.errors.strip()
    if locked := locked_error(text, stack):
        return locked
    if finished.timed_out:
        message = f"'pulumi {command}' timed out after {finished.seconds:.0f} s"
        return EngineError(message, exit_code=ExitCode.TIMEOUT)
    reason = explain(text, stack, recovery_command(stack)) or Reason(
        f"'pulumi {command}' failed: {_last_lines(text) or f'exit code {finished.exit_code}'}",
        exit_code=_PULUMI_EXIT_CODES.get(finished.exit_code, ExitCode.ERROR),
    )
    return EngineError(reason.message, remedy=reason.remedy, exit_code=reason.exit_code)


def _text_of(finished: Finished, result: RunResult) -> str:
    """Everything the engine said about a failure; a reason may stand in a warning."""
    said = [d.message for d in result.diagnostics if d.severity in ("warning", "error")]
    return "\n".join([finished.errors, *said])


def _stopped(stack: str, resume: str, finished: Finished, result: RunResult) -> Reason | None:
    changes_state = result.action in ("up", "destroy")
    kept = "; what was done is saved, run it again to continue" if changes_state else ""
    killed = finished.exit_code < 0
    if killed and changes_state:
        kept = f"; it was killed: run '{resume}' to resume"
    if finished.stop_reason:
        return Reason(
            f"{result.action} was stopped: {finished.stop_reason}{kept}",
            f"run `holdfast drift -s {stack}` to see whether an edit is the cause",
            exit_code=ExitCode.RESOURCE,
        )
    if finished.timed_out:
        return Reason(
            f"{result.action} timed out after {finished.seconds:.0f} s{_progress_of(result)}{kept}",
            "raise --timeout if it only needs longer",
            exit_code=ExitCode.TIMEOUT,
        )
    if finished.was_interrupted:
        return Reason(f"{result.action} was cancelled{kept}", exit_code=ExitCode.CANCELLED)
    if killed:
        return Reason(f"the engine was ended by signal {-finished.exit_code}{kept}")
    return None


def _progress_of(result: RunResult) -> str:
    """What a run that changes the cluster has done, and which of its steps are unfinished."""
    if result.action not in ("up", "destroy"):
        return ""
    unfinished = [each for each in result.unfinished if each.type != _STACK_TYPE]
    names = join_names([f"{each.operation} {each.name}" for each in unfinished])
    changed = {each.urn for each in result.steps if each.type != _STACK_TYPE}
    count = len(changed - {each.urn for each in unfinished})
    done = f" with {count} resource{'' if count == 1 else 's'} changed"
    return f"{done}; unfinished: {names}" if names else done


def _refused(stack: str, violations: tuple[PolicyViolation, ...]) -> Reason | None:
    if not violations:
        return None
    lines = "".join(f"\n  {line}" for line in sorted({_violation_line(v) for v in violations}))
    count = len(violations)
    return Reason(
        f"{count} mandatory policy {'violation' if count == 1 else 'violations'} on stack "
        f"{stack}:{lines}",
        exit_code=ExitCode.POLICY,
    )


def _violation_line(violation: PolicyViolation) -> str:
    name = violation.urn.rpartition("::")[2]
    return f"[{violation.policy}] {name}: {violation.message.splitlines()[-1]}"


def _program_failed(result: RunResult) -> Reason | None:
    """The program's own last words: what it wrote before it ended, or its exception."""
    for error in result.errors:
        if exited := re.search(r"program exited with non-zero exit code: (\d+)", error.message):
            said = _written(result) or f"it exited with code {exited[1]}"
            if exited[1] == str(int(ExitCode.BAD_INPUT)):
                return Reason(said, exit_code=ExitCode.BAD_INPUT)
            return Reason(f"the program failed: {said}")
        if "Program failed with an unhandled exception" in error.message:
            return _exception(error)
    return None


def _failed_for_several_reasons(stack: str, result: RunResult, resume: str) -> Reason | None:
    """What came of resources of which some failed for a known reason and others did not."""
    errors = _of_resources(result)
    known = [explain(each.message, stack, resume) is not None for each in errors]
    return _failed_resources(stack, result, resume) if any(known) and not all(known) else None


def _failed_resources(stack: str, result: RunResult, resume: str) -> Reason | None:
    """Every resource that failed, with its reason, and what helps."""
    errors = _of_resources(result)
    if not errors:
        return None
    reasons = [
        explain(each.message, stack, resume) or explain_refusal(each, stack) for each in errors
    ]
    lines = list(dict.fromkeys(each.message for each in reasons))
    remedies = dict.fromkeys(each.remedy for each in reasons if each.remedy)
    said = lines[0] if len(lines) == 1 else "".join(f"\n  {line}" for line in lines)
    remedy = _pending_remedy(resume, result) or "; ".join(remedies)
    return Reason(f"{result.action} failed: {said}", remedy)


def _of_resources(result: RunResult) -> list[Diagnostic]:
    """Errors about single resources, but for what was only broken off because of another one."""
    return [
        each
        for each in result.errors
        if each.urn and f"::{_STACK_TYPE}::" not in each.urn and _BROKEN_OFF not in each.message
    ]


def _exception(error: Diagnostic) -> Reason | None:
    """An exception that ended the program; our own ones are shown as our commands show them.

    None for the program's word that a resource failed: the resource's own error says why.
    """
    lines = error.message.rpartition("Traceback (most recent call last):")[2].splitlines()
    frames_end = next((n for n, line in enumerate(lines) if line and line[0] != " "), 0)
    said = "\n".join(lines[frames_end:]).strip()
    name, _, text = said.partition(": ")
    if name.endswith(_NOT_REGISTERED):
        return None
    ours = getattr(holdfast.errors, name.removeprefix("holdfast.errors."), None)
    if isinstance(ours, type) and issubclass(ours, HoldfastError):
        return Reason(text, exit_code=ours.exit_code)
    return Reason(f"the program failed: {said}")


def _said(resume: str, finished: Finished, result: RunResult) -> Reason:
    code = _PULUMI_EXIT_CODES.get(finished.exit_code, ExitCode.ERROR)
    errors = [
        f"{d.urn.rpartition('::')[2]}: {d.message}" if d.urn else d.message
        for d in result.errors
        if not re.fullmatch(r"(preview|update|destroy|refresh) failed", d.message)
    ]
    message = "\n".join(dict.fromkeys(errors)) or _last_lines(finished.errors)
    # A YAML program has no process to fail: its faults are what its host wrote.
    message = message or _written(result)
    message = message or f"exit code {finished.exit_code}"
    return Reason(f"{result.action} failed: {message}", _pending_remedy(resume, result), code)


def _written(result: RunResult) -> str:
    """The end of what the program wrote to standard error."""
    wrote = [d.message for d in result.diagnostics if d.severity == "info#err"]
    return _last_lines("\n".join(wrote))


def _pending_remedy(resume: str, result: RunResult) -> str:
    for diagnostic in result.diagnostics:
        if found := re.search(r"with (\d+) pending operations? from previous", diagnostic.message):
            return f"{found[1]} operations of a killed run are still pending: run '{resume}'"
    return ""


def _last_lines(text: str) -> str:
    lines = [line.removeprefix("error: ") for line in text.strip().splitlines() if line.strip()]
    return "\n".join(lines[-_OUTPUT_LINES:])
