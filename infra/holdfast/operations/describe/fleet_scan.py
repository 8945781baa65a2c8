"""What runs of a stack, for a fleet's report: asked of its cluster, or of a saved scan. Wiring.

Nothing in here fails because something cannot be looked at: that is told in the report.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from holdfast.adapters.journal.scan_journal import read_book
from holdfast.drift.finding import AgentState, DriftReport, NotChecked
from holdfast.drift.record.sightings import Observation
from holdfast.errors import HoldfastError, InputError, InvalidFilesError, ManifestError
from holdfast.kube.workload_status import Health, HealthVerdict
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.scan.health import AgentHealth, live_agents
from holdfast.operations.scan.recording import damage_note, default_history_file
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scan_context import AgentLocations, DriftContext
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.source_locations import StackLocations
from holdfast.render.provenance.origins import Origins
from holdfast.report.documents.drift import agents_counted, read_drift_json

NOT_LOOKED_AT = "not looked at"
MOST_EXACT_PLACES = 50


@dataclass(frozen=True)
class Looked:
    """What was seen of a stack.

    Attributes:
        words: Where it is known from; empty when nobody has looked.
        report: The scan; empty when there was none.
        context: What is known beside it.
        sync: Agent to its state; an agent that is not in it is unknown.
        live: Agent to how it runs; an agent that is not in it is unknown.
        why_not: Why health is not known.
        not_checked: What could not be looked at.
    """

    context: DriftContext
    words: str = ""
    report: DriftReport = field(default_factory=DriftReport)
    sync: Mapping[str, AgentState] = field(default_factory=dict)
    live: Mapping[str, AgentHealth] = field(default_factory=dict)
    why_not: str = NOT_LOOKED_AT
    not_checked: tuple[NotChecked, ...] = ()

    def health_of(self, agent: str) -> AgentHealth:
        """How an agent runs, or that this is not known and why."""
        unknown = AgentHealth(HealthVerdict(Health.UNKNOWN, self.why_not))
        return self.live.get(agent, unknown)


def look_at_nothing(fleet: Fleet) -> Looked:
    """Nothing is asked, on purpose."""
    scope = f"cluster of stack {fleet.stack}"
    reason = f"{NOT_LOOKED_AT}: leave out --offline to ask it, or give --scan {fleet.stack}=FILE"
    return Looked(DriftContext(fleet.stack), not_checked=(NotChecked(scope, reason),))


def look_at_cluster(root: Path, fleet: Fleet, context: DriftContext) -> Looked:
    """The cluster is asked, and only read."""
    stack = fleet.stack
    stack_context = StackContext(root, stack)
    try:
        scan = Scanner(ScanRequest(root, stack), context=stack_context).scan()
    except (InvalidFilesError, ManifestError):
        raise
    except HoldfastError as error:
        reason = NotChecked(f"cluster of stack {stack}", str(error))
        return Looked(
            DriftContext(stack), not_checked=(reason,), why_not=f"{NOT_LOOKED_AT}: {error}"
        )
    context = _with_places(_with_history(root, context, scan.report), scan.report, fleet)
    looked = Looked(
        context,
        "scan of the cluster",
        scan.report,
        {each.name: each.state for each in scan.report.agents},
        not_checked=scan.report.not_checked,
    )
    try:
        return replace(looked, live=live_agents(stack_context))
    except HoldfastError as error:
        told = NotChecked(f"health on stack {stack}", str(error))
        return replace(
            looked, not_checked=(*looked.not_checked, told), why_not=f"{NOT_LOOKED_AT}: {error}"
        )


def read_scan(root: Path, file: Path, fleet: Fleet, context: DriftContext) -> Looked:
    """What `holdfast drift -o json` has written; health stands in no such file.

    Raises:
        InputError: the file cannot be read, or is no such report.
    """
    try:
        text = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}", remedy="name a file") from error
    report = read_drift_json(text, str(file))
    counted, declared = agents_counted(text), len(fleet.workloads)
    not_checked = list(report.not_checked)
    if counted is not None and counted != declared:
        reason = f"{file} is a scan of {counted} agents, {declared} are declared: scan again"
        not_checked.append(NotChecked("agents without drift", reason))
    health = NotChecked("health", f"a saved scan does not say how agents run ({file})")
    drifted = {each.agent for each in report.drift}
    others = AgentState.UNKNOWN if not_checked else AgentState.SYNCED
    context = _with_history(root, context, report if context.observed_at else None)
    return Looked(
        _with_places(context, report, fleet),
        f"saved scan {file}",
        report,
        {
            agent.name: AgentState.OUT_OF_SYNC if agent.name in drifted else others
            for agent in fleet.workloads
        },
        why_not=f"{NOT_LOOKED_AT}: {health.reason}",
        not_checked=(*not_checked, health),
    )


def context_of(fleet: Fleet, observed_at: str) -> DriftContext:
    """What is known beside a scan; the time is empty for a saved one that nobody has dated."""
    return DriftContext(fleet.stack, observed_at)


def _with_places(context: DriftContext, report: DriftReport, fleet: Fleet) -> DriftContext:
    """The context, knowing where fields are declared; of many, where their agents are.

    The exact line of a field takes long to find.
    """
    if len(report.drift) <= MOST_EXACT_PLACES:
        return replace(context, locations=StackLocations(Origins(fleet, fleet.stack)))
    places = {each.name: each.location_of("metadata.name") for each in fleet.workloads}
    return replace(context, locations=AgentLocations(places))


def _with_history(root: Path, context: DriftContext, report: DriftReport | None) -> DriftContext:
    """The context, knowing since when findings stand; nothing is recorded."""
    file = default_history_file(root, context.stack)
    book, damaged_lines = read_book(file)
    if damaged_lines:
        click.echo(damage_note(file, damaged_lines), err=True)
    if report is not None:
        book.see(Observation(context.observed_at, report))
    return replace(context, sightings=book.sightings())
