"""What a command ends with: one table from results to exit codes."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from holdfast.drift.finding import AgentState
from holdfast.errors import ExitCode
from holdfast.operations.describe.compare import LiveComparison
from holdfast.operations.describe.fleet import FleetReport, StackStatus
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.validate.gates import GateReport
from holdfast.operations.validate.report import ValidationReport

Result = ValidationReport | PolicyReport | StackStatus | FleetReport | LiveComparison | GateReport


def exit_code_of(result: Result) -> int:
    """The exit code of a command that ends with a result."""
    return int(_TABLE[type(result)](result))


def _of_validation(report: ValidationReport) -> ExitCode:
    if report.errors:
        return ExitCode.BAD_INPUT
    return ExitCode.OK if report.is_accepted else ExitCode.POLICY


def _of_policy(report: PolicyReport) -> ExitCode:
    if any(each.refuses for each in report.findings):
        return ExitCode.POLICY
    return ExitCode.OK if report.is_complete else ExitCode.ERROR


def _of_status(status: StackStatus) -> ExitCode:
    """Drift is what `holdfast drift` calls drift, be it of an agent or of none."""
    states = [each.sync for each in status.agents]
    if status.findings or AgentState.OUT_OF_SYNC in states:
        return ExitCode.DRIFT
    is_synced = all(each is AgentState.SYNCED for each in states)
    is_healthy = all(each.health.is_healthy for each in status.agents)
    return ExitCode.OK if is_synced and is_healthy and not status.not_checked else ExitCode.ERROR


def _of_fleet(report: FleetReport) -> ExitCode:
    return ExitCode.OK if report.is_complete else ExitCode.ERROR


def _of_live(comparison: LiveComparison) -> ExitCode:
    return ExitCode.ERROR if comparison.not_checked else ExitCode.OK


def _of_gates(report: GateReport) -> int:
    """That of the gate that failed, which may be one of another program."""
    return report.failed.exit_code if report.failed else ExitCode.OK


_TABLE: Final[Mapping[type, Callable[[Any], int]]] = {
    ValidationReport: _of_validation,
    PolicyReport: _of_policy,
    StackStatus: _of_status,
    FleetReport: _of_fleet,
    LiveComparison: _of_live,
    GateReport: _of_gates,
}
