"""Where the parts of a fleet's report come from: manifests, rules, cluster, history."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.project import read_project
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Source, source_of
from holdfast.drift.finding import NotChecked
from holdfast.errors import HoldfastError, InputError, SourceLocation
from holdfast.operations.describe.fleet import FleetReport, FleetStack
from holdfast.operations.describe.status import (
    SavedScan,
    Seen,
    fleet_agents,
    seen_in_cluster,
    seen_in_scan,
    seen_offline,
)
from holdfast.operations.describe.topology import graph_of
from holdfast.operations.policy.evaluate import verdicts, waiver_findings
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.policy.sources import policy_of, profile_by, rendered_objects
from holdfast.operations.policy.weakened import unasked, weakened_in_stack
from holdfast.operations.scan.scan_context import ReportContext
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
        observed_at: Of the saved scans; empty when nobody says.
        made_at: RFC 3339 time of the report; default now.
    """

    root: Path
    stacks: tuple[str, ...]
    scans: Mapping[str, SavedScan] = field(default_factory=dict)
    is_offline: bool = False
    observed_at: str = ""
    made_at: str = field(default_factory=utc_now)

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
                f"--saved {other}={self.scans[other].file}: stack {other} is not reported",
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
        state.fleet  # noqa: B018  (bad files are listed before a cluster is asked)
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


def _seen(request: FleetRequest, state: StackContext) -> Seen:
    saved = request.scans.get(state.name)
    if saved is not None:
        context = ReportContext(state.name, request.observed_at)
        return seen_in_scan(request.root, saved, state.fleet, context)
    if request.is_offline:
        return seen_offline(state.fleet)
    return seen_in_cluster(state, ReportContext(state.name, request.made_at))


def _stack(request: FleetRequest, state: StackContext) -> FleetStack:
    fleet = state.fleet
    seen = _seen(request, state)
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
        looked_at=seen.words,
        agents=tuple(fleet_agents(fleet, fleet.workloads, seen, updates, policy)),
        drift=seen.report,
        context=seen.context,
        policy=policy,
        graph=graph_of(fleet),
        updates=tuple(updates),
        notes=seen.notes,
        not_checked=(*seen.not_checked, *undecided, *untold),
    )


def _policy(state: StackContext, made_at: str) -> PolicyReport:
    """What the rules say of what is declared; no cluster and no engine is asked."""
    policy = policy_of(state, datetime.now(UTC).date())
    profile = profile_by(policy)
    gathered = rendered_objects(state)
    # The exact line of each fault takes long to find; a fleet's report names its agent's.
    judged = [replace(each, place_of=_at(each.approximate_location)) for each in gathered.judged]
    findings, objects = verdicts(judged, profile)
    listed = tuple(waiver_findings(gathered.judged, findings, profile, is_whole=True))
    weakened = weakened_in_stack(profile, state)
    return PolicyReport(
        title=f"Policy of stack {state.name}",
        identifier=f"policy/{state.name}",
        profile=str(profile.environment),
        findings=(*findings, *listed, *weakened),
        objects=objects,
        not_checked=unasked(profile),
        observed_at=made_at,
        known=policy.known,
    )


def _at(place: SourceLocation | None) -> Callable[[str], SourceLocation | None]:
    return lambda _: place


def _updates(root: Path, stack: str) -> tuple[list[UpdateRecord], tuple[NotChecked, ...]]:
    try:
        return update_records(root, stack), ()
    except HoldfastError as error:
        return [], (NotChecked(f"history of stack {stack}", str(error)),)
