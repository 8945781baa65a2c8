"""What is seen of a stack, for a fleet's report: in its cluster, or in a saved scan.

Nothing in here fails because something cannot be read: the report says what was not checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.adapters.journal.scan_journal import read_book
from holdfast.drift.finding import AgentState, DriftReport, NotChecked
from holdfast.drift.record.finding_history import Observation
from holdfast.errors import HoldfastError, InvalidFilesError, ManifestError
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

NOT_LOOKED_AT = "not looked at"
MOST_EXACT_PLACES = 50


@dataclass(frozen=True)
class Seen:
    """What was seen of a stack.

    Attributes:
        words: Where it is known from; empty when nothing was asked.
        report: The scan; empty when there was none.
        context: What is known beside it.
        sync: Agent to its state; an agent that is not in it is unknown.
        live: Agent to how it runs; an agent that is not in it is unknown.
        why_not: Why health is not known.
        notes: What is to be known beside the report, such as damaged lines of the history.
        not_checked: What could not be read.
    """

    context: DriftContext
    words: str = ""
    report: DriftReport = field(default_factory=DriftReport)
    sync: Mapping[str, AgentState] = field(default_factory=dict)
    live: Mapping[str, AgentHealth] = field(default_factory=dict)
    why_not: str = NOT_LOOKED_AT
    not_checked: tuple[NotChecked, ...] = ()
    notes: tuple[str, ...] = ()

    def health_of(self, agent: str) -> AgentHealth:
        """How an agent runs, or that this is not known and why."""
        unknown = AgentHealth(HealthVerdict(Health.UNKNOWN, self.why_not))
        return self.live.get(agent, unknown)


def seen_offline(fleet: Fleet) -> Seen:
    """Nothing is asked, on purpose."""
    scope = f"cluster of stack {fleet.stack}"
    reason = f"{NOT_LOOKED_AT}: leave out --offline to ask it, or give --scan {fleet.stack}=FILE"
    return Seen(DriftContext(fleet.stack), not_checked=(NotChecked(scope, reason),))


def seen_in_cluster(state: StackContext, context: DriftContext) -> Seen:
    """The cluster is asked, and only read."""
    fleet, stack = state.fleet, state.name
    try:
        scan = Scanner(ScanRequest(state.root, stack), context=state).scan()
    except (InvalidFilesError, ManifestError):
        raise
    except HoldfastError as error:
        reason = NotChecked(f"cluster of stack {stack}", str(error))
        return Seen(DriftContext(stack), not_checked=(reason,), why_not=f"{NOT_LOOKED_AT}: {error}")
    context, notes = _with_history(state.root, context, scan.report)
    seen = Seen(
        _with_places(context, scan.report, fleet),
        "scan of the cluster",
        scan.report,
        {each.name: each.state for each in scan.report.agents},
        not_checked=scan.report.not_checked,
        notes=notes,
    )
    try:
        return replace(seen, live=live_agents(state))
    except HoldfastError as error:
        reason = NotChecked(f"health on stack {stack}", str(error))
        return replace(
            seen, not_checked=(*seen.not_checked, reason), why_not=f"{NOT_LOOKED_AT}: {error}"
        )


@dataclass(frozen=True)
class SavedScan:
    """What `holdfast drift -o json` has written.

    Attributes:
        file: Where it lies.
        agents: How many agents it has scanned; None where it does not say.
    """

    file: Path
    report: DriftReport
    agents: int | None = None


def seen_in_scan(root: Path, saved: SavedScan, fleet: Fleet, context: DriftContext) -> Seen:
    """What a saved scan says; health stands in no such file."""
    file, report, declared = saved.file, saved.report, len(fleet.workloads)
    not_checked = list(report.not_checked)
    if saved.agents is not None and saved.agents != declared:
        reason = f"{file} is a scan of {saved.agents} agents, {declared} are declared: scan again"
        not_checked.append(NotChecked("agents without drift", reason))
    health = NotChecked("health", f"a saved scan does not say how agents run ({file})")
    drifted = {each.agent for each in report.drift}
    others = AgentState.UNKNOWN if not_checked else AgentState.SYNCED
    context, notes = _with_history(root, context, report if context.observed_at else None)
    return Seen(
        _with_places(context, report, fleet),
        f"saved scan {file}",
        report,
        {
            agent.name: AgentState.OUT_OF_SYNC if agent.name in drifted else others
            for agent in fleet.workloads
        },
        why_not=f"{NOT_LOOKED_AT}: {health.reason}",
        not_checked=(*not_checked, health),
        notes=notes,
    )


def _with_places(context: DriftContext, report: DriftReport, fleet: Fleet) -> DriftContext:
    """The context, knowing where fields are declared; of many, where their agents are.

    The exact line of a field takes long to find.
    """
    if len(report.drift) <= MOST_EXACT_PLACES:
        return replace(context, locations=StackLocations(Origins(fleet, fleet.stack)))
    places = {each.name: each.location_of("metadata.name") for each in fleet.workloads}
    return replace(context, locations=AgentLocations(places))


def _with_history(
    root: Path, context: DriftContext, report: DriftReport | None
) -> tuple[DriftContext, tuple[str, ...]]:
    """The context, knowing since when findings stand, and notes; nothing is recorded."""
    file = default_history_file(root, context.stack)
    book, damaged = read_book(file)
    if report is not None:
        book.see(Observation(context.observed_at, report))
    context = replace(context, histories=book.by_key())
    return context, (damage_note(file, damaged),) if damaged else ()
