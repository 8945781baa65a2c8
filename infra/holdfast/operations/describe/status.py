"""What runs of a stack, agent by agent: from its cluster, or from a saved scan.

What cannot be read fails nothing in a fleet's report: it is reported as not checked.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.journal.scan_journal import read_book
from holdfast.drift.finding import AgentState, DriftReport, NotChecked
from holdfast.drift.record.finding_history import Observation
from holdfast.errors import ClusterError, HoldfastError, InvalidFilesError, ManifestError
from holdfast.kube.workload_status import Health, HealthVerdict, WorkloadState
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.kinds.kinds import ModelConfig
from holdfast.operations.describe.fleet import FleetAgent, Replicas, StackStatus, open_drift
from holdfast.operations.policy.heat_map import state_of
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.scan.health import AgentHealth, live_agents
from holdfast.operations.scan.recording import damage_note, default_history_file
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scan_context import AgentLocations, ReportContext
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.stack.agent_stack import Suspension, read_control, stack_client
from holdfast.operations.stack.context import StackContext, agent_named
from holdfast.operations.stack.declaration import StackLocations
from holdfast.operations.stack.update_history import update_records

NOT_CHECKED = "not checked"
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

    context: ReportContext
    words: str = ""
    report: DriftReport = field(default_factory=DriftReport)
    sync: Mapping[str, AgentState] = field(default_factory=dict)
    live: Mapping[str, AgentHealth] = field(default_factory=dict)
    why_not: str = NOT_CHECKED
    not_checked: tuple[NotChecked, ...] = ()
    notes: tuple[str, ...] = ()

    def health_of(self, agent: str) -> AgentHealth:
        """How an agent runs, or that this is not known and why."""
        unknown = AgentHealth(HealthVerdict(Health.UNKNOWN, self.why_not))
        return self.live.get(agent, unknown)


def seen_offline(fleet: Fleet) -> Seen:
    """Nothing is asked, on purpose."""
    scope = f"cluster of stack {fleet.stack}"
    reason = f"{NOT_CHECKED}: leave out --offline to ask it, or give --scan {fleet.stack}=FILE"
    return Seen(ReportContext(fleet.stack), not_checked=(NotChecked(scope, reason),))


def seen_in_cluster(state: StackContext, context: ReportContext) -> Seen:
    """The cluster is asked, and only read."""
    fleet, stack = state.fleet, state.name
    try:
        scan = Scanner(ScanRequest(state.root, stack), context=state).scan()
    except (InvalidFilesError, ManifestError):
        raise
    except HoldfastError as error:
        reason = NotChecked(f"cluster of stack {stack}", str(error))
        return Seen(ReportContext(stack), not_checked=(reason,), why_not=f"{NOT_CHECKED}: {error}")
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
            seen, not_checked=(*seen.not_checked, reason), why_not=f"{NOT_CHECKED}: {error}"
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


def seen_in_scan(root: Path, saved: SavedScan, fleet: Fleet, context: ReportContext) -> Seen:
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
        why_not=f"{NOT_CHECKED}: {health.reason}",
        not_checked=(*not_checked, health),
        notes=notes,
    )


def _with_places(context: ReportContext, report: DriftReport, fleet: Fleet) -> ReportContext:
    """The context, knowing where fields are declared; of many, where their agents are.

    The exact line of a field takes long to find.
    """
    if len(report.drift) <= MOST_EXACT_PLACES:
        return replace(context, locations=StackLocations.of(fleet))
    places = {each.name: each.location_of("metadata.name") for each in fleet.workloads}
    return replace(context, locations=AgentLocations(places))


def _with_history(
    root: Path, context: ReportContext, report: DriftReport | None
) -> tuple[ReportContext, tuple[str, ...]]:
    """The context, knowing since when findings stand, and notes; nothing is recorded."""
    file = default_history_file(root, context.stack)
    book, damaged = read_book(file)
    if report is not None:
        book.see(Observation(context.observed_at, report))
    context = replace(context, histories=book.by_key())
    return context, (damage_note(file, damaged),) if damaged else ()


def fleet_agents(
    fleet: Fleet,
    chosen: Iterable[DeclaredAgent],
    seen: Seen,
    updates: Iterable[UpdateRecord],
    policy: PolicyReport | None = None,
) -> Iterator[FleetAgent]:
    """Agents, and tool servers that the stack runs.

    Args:
        fleet: What they are declared among.
        chosen: Which of them are wanted.
        seen: What runs.
        updates: Of the stack, oldest first.
        policy: What the rules say of what is declared; None where that was not asked.
    """
    drift = open_drift(seen.report, seen.context)
    said = _said(policy) if policy is not None else {}
    changed: dict[str, UpdateRecord] = {}
    for record in updates:
        if record.has_succeeded:
            changed |= dict.fromkeys(record.agents or (), record)
    for agent in chosen:
        spec, live = agent.spec, seen.health_of(agent.name)
        provider, model = _model(agent, fleet)
        team = fleet.team_of(agent) if agent.kind == AGENT_KIND else None
        yield FleetAgent(
            name=agent.name,
            namespace=agent.namespace,
            type=spec.type if agent.kind == AGENT_KIND else "tool server",
            team=team.name if team else "",
            owner=spec.owner or (team.spec.owner if team else None) or "",
            version=spec.version,
            live_version=live.version,
            provider=provider,
            model_name=model,
            replicas=_replicas(agent, live.workloads),
            sync=seen.sync.get(agent.name, AgentState.UNKNOWN),
            health=live.health,
            drift=drift.get(agent.name, ()),
            policy=said.get(agent.name, {}),
            update=changed.get(agent.name),
        )


def _said(policy: PolicyReport) -> dict[str, dict[str, int]]:
    """Agent to what the rules say of its objects."""
    said: dict[str, dict[str, int]] = {}
    for each in policy.findings:
        counted = said.setdefault(each.agent, {})
        counted[state_of(each)] = counted.get(state_of(each), 0) + 1
    for judged in policy.objects:
        counted = said.setdefault(judged.agent, {})
        counted["passed"] = counted.get("passed", 0) + len(judged.passed)
    return said


def _model(agent: DeclaredAgent, fleet: Fleet) -> tuple[str, str]:
    """Provider and name."""
    model = agent.spec.model
    if model is None:
        return "", ""
    shared = fleet.find(ModelConfig, model.ref, agent.namespace) if model.ref is not None else None
    chosen = shared.spec if shared is not None else model
    return chosen.provider or "", chosen.name or ""


def _replicas(agent: DeclaredAgent, workloads: Iterable[WorkloadState]) -> Replicas:
    """As declared, and as they run now."""
    running = [each for each in workloads if each.desired is not None]
    desired = sum(each.desired or 0 for each in running) if running else None
    ready = sum(each.ready or 0 for each in running) if running else None
    if agent.spec.type == "Job":
        return Replicas(desired=desired, ready=ready)
    scaling = agent.spec.scaling
    return Replicas(scaling.fewest_replicas, scaling.most_replicas, desired, ready)


def stack_status(context: StackContext, name: str = "") -> StackStatus:
    """Scan a stack and ask its cluster how its agents run; nothing is changed or recorded.

    Args:
        context: The stack.
        name: Only this agent; empty for the whole stack.

    Raises:
        InputError: the stack has no such agent.
        InvalidFilesError: the manifests are not valid.
        ClusterError: the cluster cannot be asked.
    """
    fleet = context.fleet
    chosen = (agent_named(name, fleet),) if name else fleet.workloads
    report = Scanner(ScanRequest(context.root, context.name), context=context).scan().report
    suspension, problem = _suspension(context)
    seen = Seen(
        ReportContext(context.name),
        report=report,
        sync={each.name: each.state for each in report.agents},
        live=live_agents(context),
    )
    updates = update_records(context.root, context.name)
    names = {agent.name for agent in fleet.workloads}
    return StackStatus(
        context.name,
        next((each for each in reversed(updates) if each.has_succeeded), None),
        tuple(fleet_agents(fleet, chosen, seen, updates)),
        () if name else tuple(each for each in report.drift if each.agent not in names),
        report.not_checked,
        suspension,
        problem,
    )


def _suspension(context: StackContext) -> tuple[Suspension | None, str]:
    """Why the stack's Git loop changes nothing, or why that is not known: it is no drift."""
    try:
        return read_control(stack_client(context), context.name).suspension, ""
    except ClusterError as error:
        return None, str(error)
