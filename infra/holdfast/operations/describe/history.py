"""The history of a stack: its updates, its scans, and the results of its gates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.files import state_directory
from holdfast.adapters.journal.journal import Journal, JournalKind, journal_file
from holdfast.adapters.journal.scan_journal import read_history
from holdfast.drift.record.finding_history import DriftAlert, FindingHistory, Observation, alerts
from holdfast.drift.scan import observed_objects
from holdfast.errors import ExitCode, InputError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.names import stack_names
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.stack.context import agent_named
from holdfast.operations.stack.update_history import update_records


@dataclass(frozen=True)
class HistoryReport:
    """What the scans of a stack have found over time.

    Attributes:
        stack: Name of the stack; empty for a file of one's own.
        scans: How many scans it holds up to the moment that was asked for.
        last: The last of them.
        findings: Everything ever reported by then.
        alerts: Raised by then, oldest first.
        configuration: Every object as that scan saw it; None when it is not asked for or known.
        damaged_lines: Numbers of lines of the file that hold no scan.
    """

    stack: str
    scans: int
    last: Observation
    findings: Mapping[str, FindingHistory]
    alerts: Sequence[DriftAlert]
    configuration: tuple[KubeObject, ...] | None = None
    damaged_lines: Sequence[int] = ()

    @property
    def in_order(self) -> list[FindingHistory]:
        """What is open first, the worst and oldest first."""
        return sorted(
            self.findings.values(),
            key=lambda each: (not each.is_open, each.finding.severity.rank, each.since),
        )


def stack_and_agent(root: Path, name: str, stack: str) -> tuple[str, str]:
    """Which stack and agent a name means: an agent where a stack is given, else a stack.

    Raises:
        InputError: there is no such stack (exit code 6), or none is named.
    """
    if stack:
        read_stack_file(root, stack)
        return stack, name
    if name in stack_names(root):
        return name, ""
    known = ", ".join(stack_names(root))
    remedy = f"name one of {known}; or an agent, with -s STACK"
    raise InputError(
        f"no stack {name!r}" if name else "no stack is named",
        remedy=remedy if known else f"there is no stacks/Pulumi.STACK.yaml in {root}",
        exit_code=ExitCode.NO_STACK if name else None,
    )


def scan_history(file: Path, stack: str, moment: str, alert_after: int) -> HistoryReport:
    """The scans of a file, up to a moment.

    Args:
        file: Journal of scans.
        stack: Its stack; empty for a file of one's own.
        moment: RFC 3339; empty for now. The configuration of that time is given with it.
        alert_after: How many low findings open at once raise an alert.

    Raises:
        InputError: no scan was recorded, or none by that time.
    """
    history = read_history(file, until=moment)
    if not history.observations:
        whole = read_history(file)
        if not whole.observations:
            raise InputError(f"{file}: no scan was recorded", remedy="run `holdfast drift` first")
        first = whole.observations[0].observed_at
        raise InputError(f"no scan was made by {moment}", remedy=f"the first was at {first}")
    last = history.observations[-1]
    declared = history.configurations.declared(last.configuration) if moment else None
    return HistoryReport(
        stack,
        history.book.scans,
        last,
        history.book.by_key(),
        alerts(history.observations, alert_after),
        None if declared is None else tuple(observed_objects(declared, last.report.findings)),
        history.damaged_lines,
    )


def updates_of(root: Path, stack: str, agent: str = "") -> list[UpdateRecord]:
    """The updates of a stack, or those that may have changed an agent; the newest last.

    Raises:
        InputError: neither the history nor the manifests know the agent.
    """
    records = update_records(root, stack)
    if not agent:
        return records
    if agent not in {each for record in records for each in record.agents or ()}:
        agent_named(agent, load_fleet(root, stack))
    # If it is not known which agents an update changed, this one may be among them.
    return [each for each in records if each.agents is None or agent in each.agents]


def gate_journal(root: Path, stack: str) -> Journal:
    """Where the results of a stack's gates are kept."""
    project = read_project(root).name
    return Journal(journal_file(state_directory(), project, stack, JournalKind.GATES))
