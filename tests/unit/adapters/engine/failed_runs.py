"""Runs of the engine that failed, and what is told of them."""

from holdfast.adapters.engine.failures.failures import RunFailedError, run_failure
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import Diagnostic, PolicyViolation
from holdfast.adapters.engine.run.process import Finished
from holdfast.errors import ExitCode


def outcome(
    *diagnostics: Diagnostic, action: str = "preview", violations: tuple[PolicyViolation, ...] = ()
) -> RunResult:
    """What a run came to."""
    return RunResult(action, {}, (), (), (), violations, diagnostics, 1.0)


def error(message: str, urn: str = "") -> Diagnostic:
    """One thing that the engine said."""
    return Diagnostic("error", message, urn)


def told(finished: Finished, result: RunResult) -> tuple[str, ExitCode]:
    """The text of the failure, and its exit code."""
    failure = run_failure("dev", finished, result)
    assert isinstance(failure, RunFailedError)
    assert failure.result is result
    return str(failure), failure.exit_code
