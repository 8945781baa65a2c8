"""Where the parts of a fleet's report come from: manifests, rules, cluster, history. Wiring."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Source, source_of
from holdfast.drift.finding import AgentState, NotChecked
from holdfast.errors import HoldfastError, InputError, SourceLocation
from holdfast.kube.workload_status import WorkloadState
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.operations.describe.fleet import (
    FleetAgent,
    FleetReport,
    FleetStack,
    Replicas,
    open_drift,
)
from holdfast.operations.describe.fleet_scan import (
    Looked,
    context_of,
    look_at_cluster,
    look_at_nothing,
    read_scan,
)
from holdfast.operations.describe.topology import graph_of
from holdfast.operations.policy.evaluate import verdicts, waiver_findings
from holdfast.operations.policy.heat_map import state_of
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.policy.sources import policy_of, profile_by, rendered_objects
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import update_records


@dataclass(frozen=True)
class FleetRequest:
    """What the command line asks for.

    Attributes:
        root: Folder of the project.
        stacks: In the order in which they are shown.
        scans: Stack to a saved scan, in place of its cluster.
        is_offline: Ask no cluster.
        made_at: RFC 3339 time of the report.
        observed_at: Of the saved scans; empty when nobody says.
    """

    root: Path
    stacks: tuple[str, ...]
    made_at: str
    scans: Mapping[str, Path] = field(default_factory=dict)
    is_offline: bool = False
    observed_at: str = ""

    def check(self) -> None:
        """See that it can be answered.

        Raises:
            InputError: a stack is named twice, or a scan is of a stack that is not.
        """
        twice = next((each for each in self.stacks if self.stacks.count(each) > 1), "")
        if twice:
            raise InputError(f"stack {twice} is named twice", remedy="name each once")
        other = next((each for each in self.scans if each not in self.stacks), "")
        if other:
            raise InputError(
                f"--scan {other}={self.scans[other]}: stack {other} is not reported",
                remedy=f"add -s {other}",
            )


def fleet_report(request: FleetRequest) -> FleetReport:
    """Every stack, one after the other.

    Raises:
        InputError: there is no such stack, its files are not valid, or a saved scan is none.
    """
    request.check()
    states = [StackContext(request.root, name) for name in request.stacks]
    for state in states:
        state.fleet  # noqa: B018  (bad files are told before a cluster is asked)
    return FleetReport(
        read_project(request.root).name,
        request.made_at,
        _source(request.root),
        tuple(_stack(request, state) for state in states),
    )


def _source(root: Path) -> Source | None:
    try:
        return source_of(root)
    except HoldfastError:
        return None  # no Git here: then nobody knows


def _looked(request: FleetRequest, fleet: Fleet) -> Looked:
    saved = request.scans.get(fleet.stack)
    if saved is not None:
        return read_scan(request.root, saved, fleet, context_of(fleet, request.observed_at))
    if request.is_offline:
        return look_at_nothing(fleet)
    return look_at_cluster(request.root, fleet, context_of(fleet, request.made_at))


def _stack(request: FleetRequest, state: StackContext) -> FleetStack:
    fleet = state.fleet
    looked = _looked(request, fleet)
    policy = _policy(state, request.made_at)
    updates, untold = _updates(request.root, state.name)
    undecided = tuple(
        NotChecked(f"{each.rule} at {each.subject} {each.path}".rstrip(), each.headline)
        for each in policy.findings
        if each.is_open
    )
    return FleetStack(
        name=state.name,
        profile=policy.profile,
        cluster=fleet.environment.cluster.identifier or state.kube_context or "",
        looked_at=looked.words,
        agents=tuple(_agents(fleet, looked, policy, updates)),
        drift=looked.report,
        context=looked.context,
        policy=policy,
        graph=graph_of(fleet),
        updates=tuple(updates),
        not_checked=(*looked.not_checked, *undecided, *untold),
    )


def _policy(state: StackContext, made_at: str) -> PolicyReport:
    """What the rules say of what is declared; no cluster and no engine is asked."""
    policy = policy_of(state, datetime.now(UTC).date())
    profile = profile_by(policy)
    gathered = rendered_objects(state)
    # The exact line of each fault takes long to find; a fleet's report names its agent's.
    judged = [replace(each, place_of=_at(each.near)) for each in gathered.judged]
    findings, objects = verdicts(judged, profile)
    told = tuple(waiver_findings(gathered.judged, findings, profile.waivers))
    return PolicyReport(
        title=f"Policy of stack {state.name}",
        identifier=f"policy/{state.name}",
        profile=str(profile.environment),
        findings=(*findings, *told),
        objects=objects,
        observed_at=made_at,
    )


def _at(place: SourceLocation | None) -> Callable[[str], SourceLocation | None]:
    return lambda _: place


def _updates(root: Path, stack: str) -> tuple[list[UpdateRecord], tuple[NotChecked, ...]]:
    try:
        return update_records(root, stack), ()
    except HoldfastError as error:
        return [], (NotChecked(f"history of stack {stack}", str(error)),)


def _agents(
    fleet: Fleet, looked: Looked, policy: PolicyReport, updates: Iterable[UpdateRecord]
) -> Iterable[FleetAgent]:
    drift = open_drift(looked.report, looked.context)
    said = _said(policy)
    changed: dict[str, UpdateRecord] = {}
    for record in updates:
        if record.has_succeeded:
            changed |= dict.fromkeys(record.agents or (), record)
    for agent in fleet.workloads:
        spec, live = agent.spec, looked.health_of(agent.name)
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
            sync=looked.sync.get(agent.name, AgentState.UNKNOWN),
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
    shared = fleet.model_config(model.ref, agent.namespace) if model.ref is not None else None
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
