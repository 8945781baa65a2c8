"""Where the parts of a comparison come from: files, a stack, a cluster, the policy pack. Wiring."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.drift_cluster import ClusterSource
from holdfast.cli.drift_ignore import ignore_rules
from holdfast.cli.policy_judge import judge_of
from holdfast.drift.attribution import AuditTrail
from holdfast.drift.autoscaling import Autoscalers
from holdfast.drift.causes import causes_of
from holdfast.drift.finding import DriftReport, Finding, NotChecked, Objects, with_findings
from holdfast.drift.ignore import IgnoreRules
from holdfast.drift.object_drift import Surroundings
from holdfast.drift.record import with_record_findings
from holdfast.drift.rollouts import Rollouts
from holdfast.drift.rollup import agents_of
from holdfast.drift.rules import RuleJudge
from holdfast.drift.scan import DriftJudge, Identity, LiveState
from holdfast.drift.sessions import session_findings
from holdfast.errors import InputError, SourceLocation
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.placement import placed
from holdfast.kube.structure import TypeTable, builtin_kind
from holdfast.manifest.kube_files import read_kube_objects

if TYPE_CHECKING:
    from holdfast.engine.baseline import Baseline
    from holdfast.engine.file_backend import FileHistory
    from holdfast.render.origins import Origins


@dataclass(frozen=True)
class DriftRequest:
    """What the command line asks for."""

    stack: str = ""
    desired: Path | None = None
    live: Path | None = None
    baseline: Path | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    audit_log: Path | None = None
    request_timeout: float = 60.0
    ignore_file: Path | None = None


@dataclass(frozen=True)
class DesiredState:
    """What should be there.

    Attributes:
        stack: Name of the stack; empty for files.
        environment: Policy profile by which live objects are judged.
        policy_rules: What the stack says of single rules, over that profile.
        context: Kubeconfig context of the stack; None for the current one.
        kubeconfig: Kubeconfig of the sandbox that the stack lives in; None elsewhere.
        audit_log: Audit log of that sandbox.
        place_of: Where the field of a finding (else its agent, else its object) is declared.
        pending: Objects that an interrupted update left half done: they cannot be judged.
        baseline: Live objects right after the last good update; None without.
        recorded: Objects whose record a refresh has rewritten, as that record has them.
        urns: Resource of each recorded object, as the engine calls it.
        not_checked: What stands in the way of judging the stack as a whole.
        ignore: Drift that is expected.
        modes: Agent to what is done about its drift: report, revert or adopt.
        origins: Which line of which file declares a field; None for plain objects.
    """

    objects: tuple[KubeObject, ...]
    stack: str = ""
    environment: str = "prod"
    policy_rules: Mapping[str, Any] = field(default_factory=dict)
    context: str | None = None
    kubeconfig: Path | None = None
    audit_log: Path | None = None
    baseline: tuple[KubeObject, ...] | None = None
    pending: tuple[ObjectRef, ...] = ()
    recorded: tuple[KubeObject, ...] = ()
    urns: Mapping[tuple[str, str, str, str], str] = field(default_factory=dict)
    not_checked: tuple[NotChecked, ...] = ()
    ignore: IgnoreRules | None = None
    modes: Mapping[str, str] = field(default_factory=dict)
    origins: "Origins | None" = None
    place_of: Callable[[Finding], SourceLocation | None] = field(default=lambda _: None)

    @property
    def judge(self) -> RuleJudge:
        """The policy pack's verdict on one object, with the stack's settings and exceptions."""
        fleet = self.origins.fleet if self.origins else None
        return judge_of(self.environment, self.policy_rules, fleet)


def desired_objects_of_stack(stack: str, ignore_file: Path | None = None) -> DesiredState:
    """Rendered objects of a stack, its cluster settings and its policy profile."""
    from holdfast.cli.declared_places import places_in  # noqa: PLC0415  (files need no project)
    from holdfast.cli.stack_state import open_state  # noqa: PLC0415  (files need no project)
    from holdfast.engine.baseline import read_baseline  # noqa: PLC0415  (as above)
    from holdfast.render.origins import Origins  # noqa: PLC0415  (as above)

    state = open_state(stack)
    with ThreadPoolExecutor(max_workers=1) as reader:
        # Unpacking the record of the last update takes as long as rendering, on another core.
        reading = reader.submit(read_baseline, state.project_root, stack)
        objects = state.objects
        baseline = reading.result()
    origins = Origins(state.fleet, stack)
    for note in _notes_on(baseline):
        click.echo(f"note: {note}", err=True)
    return DesiredState(
        objects,
        stack=stack,
        environment=state.policy_profile,
        policy_rules=state.fleet.environment.policy.rules,
        context=state.context,
        kubeconfig=state.kubeconfig,
        audit_log=state.audit_log,
        baseline=tuple(one.object for one in baseline.objects) if baseline.exists else None,
        pending=baseline.pending,
        recorded=baseline.rewritten,
        urns={one.reference.identity: one.urn for one in baseline.objects},
        not_checked=tuple(_under_way(stack, who) for who in baseline.running),
        ignore=ignore_rules(ignore_file, state.project_root, state.fleet),
        modes={agent.name: agent.spec.drift.mode for agent in state.fleet.workloads},
        origins=origins,
        place_of=places_in(origins),
    )


@dataclass(frozen=True)
class Scan:
    """One comparison and what it was made from.

    Attributes:
        desired: Declared objects by identity, with their namespaces.
    """

    report: DriftReport
    desired: dict[tuple[str, str, str, str], KubeObject]
    live: LiveState
    around: Surroundings


@dataclass(frozen=True)
class DriftSources:
    """Everything one command needs, read when first used and kept for a second scan."""

    request: DriftRequest

    @cached_property
    def desired(self) -> DesiredState:
        """What should be there."""
        if self.request.stack:
            return desired_objects_of_stack(self.request.stack, self.request.ignore_file)
        assert self.request.desired is not None  # noqa: S101  (the command line has looked)
        read = read_kube_objects(self.request.desired)
        places: dict[tuple[str, str, str, str], SourceLocation] = {}
        for one in read:
            identity = reference_of(one.kube_object).identity
            if identity in places:
                ref = reference_of(one.kube_object)
                raise InputError(
                    f"{one.file}: {ref} is declared in {places[identity]} already",
                    remedy="keep one of the two",
                )
            places[identity] = SourceLocation(one.file)
        named = self.request.ignore_file
        return DesiredState(
            tuple(one.kube_object for one in read),
            ignore=ignore_rules(named) if named is not None else None,
            place_of=lambda finding: places.get(finding.ref.identity),
        )

    @cached_property
    def state_files(self) -> "FileHistory | None":
        """The stack's files; None for plain objects, and where its backend is no folder here."""
        if not self.request.stack:
            return None
        from holdfast.cli.project import find_project_root  # noqa: PLC0415  (files need no project)
        from holdfast.engine.baseline import state_files  # noqa: PLC0415  (as above)

        return state_files(find_project_root(), self.request.stack)

    @cached_property
    def cluster(self) -> ClusterSource:
        """The cluster to look at."""
        context = self.request.context or self.desired.context
        kubeconfig = self.request.kubeconfig or self.desired.kubeconfig
        return ClusterSource.connect(kubeconfig, context, self.request.request_timeout)

    @property
    def half_done(self) -> dict[tuple[str, str, str, str], NotChecked]:
        """Objects that an interrupted update left: they cannot be judged."""
        return {ref.identity: _half_done(ref) for ref in self.desired.pending}

    def placed(self, objects: Iterable[KubeObject]) -> list[KubeObject]:
        """Objects with their namespace: as the cluster says, or Kubernetes where there is none."""
        if self.request.live is not None:
            return placed(objects, _is_namespaced, "default")
        return self.cluster.placed(objects)

    def scan(self, *, keeps_all: bool = False) -> Scan:
        """Read what is live now, and compare.

        Args:
            keeps_all: What is in sync is kept, too, for whoever compares it with something else.
        """
        if self.request.live is not None:
            return self._scan_of_file(self.request.live)
        objects = self.placed(self.desired.objects)
        around = self.surroundings(
            objects, self.cluster.types(), lambda: self.cluster.autoscalers(objects)
        )
        judge = DriftJudge(objects, around, self.desired.stack)
        is_settled = _never if keeps_all else judge.is_in_sync
        live = self.cluster.read(objects, self.desired.stack, is_settled)
        live = replace(
            live,
            unread={**live.unread, **self.half_done},
            not_checked=self.desired.not_checked,
        )
        return self._compared(judge, live)

    def _scan_of_file(self, file: Path) -> Scan:
        objects = self.placed(self.desired.objects)
        found = _by_identity(one.kube_object for one in read_kube_objects(file))
        around = self.surroundings(objects, [], found.values)
        judge = DriftJudge(objects, around, self.desired.stack)
        return self._compared(judge, LiveState(found))

    def _compared(self, judge: DriftJudge, live: LiveState) -> Scan:
        report = self.finished(judge.report(live), judge)
        desired = {identity: one for identity, (_, one) in judge.declared.items()}
        trail = judge.around.trail
        if trail is not None and self.request.audit_log is not None:
            # Only for a log that was named: reading one takes longer than a scan in sync.
            namespaces = {namespace for _, _, namespace, _ in desired} - {""}
            inside = session_findings(live.objects.values(), trail(), namespaces)
            report = with_findings(report, inside)
        report = replace(
            report,
            agents=agents_of(
                desired.values(), report, live.unread, is_blind=bool(live.not_checked)
            ),
            causes=causes_of(report, judge.around.baseline, live.objects),
        )
        return Scan(report, desired, live, judge.around)

    def finished(
        self, report: DriftReport, judge: DriftJudge, only: Collection[Identity] | None = None
    ) -> DriftReport:
        """What a comparison has found, with what is said about it beside: for scan and watch alike.

        Args:
            report: As the judge gave it.
            judge: That gave it.
            only: Identities that were judged; None for everything.
        """
        recorded = [
            one
            for one in self.desired.recorded
            if only is None or reference_of(one).identity in only
        ]
        if not recorded:
            return report
        desired = {identity: one for identity, (_, one) in judge.declared.items()}
        return with_record_findings(report, recorded, desired, judge.around)

    def surroundings(
        self,
        objects: list[KubeObject],
        types: list[TypeTable],
        find_autoscalers: Callable[[], Iterable[Mapping[str, Any]]],
        trail: Callable[[], AuditTrail] | None = None,
    ) -> Surroundings:
        """What judging an object needs beside it; without a `trail` the log is read once."""
        return Surroundings(
            autoscalers=Autoscalers(objects, find_autoscalers),
            custom_types=types,
            baseline=self._baseline(),
            trail=trail or self._trail(),
            ignore=self.desired.ignore,
            judge=self.desired.judge,
            rollouts=Rollouts(objects),
            is_during_update=self._is_during_update(),
        )

    def _is_during_update(self) -> Callable[[float], bool] | None:
        files = self.state_files
        if files is None:
            return None
        from holdfast.engine.history import position_covering  # noqa: PLC0415  (files need none)

        return lambda seconds: position_covering(files, seconds) is not None

    def _baseline(self) -> Objects | None:
        if self.request.baseline is not None:
            read = read_kube_objects(self.request.baseline)
            return _by_identity(one.kube_object for one in read)
        known = self.desired.baseline
        return _by_identity(known) if known is not None else None

    @property
    def audit_log(self) -> Path | None:
        """The audit log; None where there is none.

        Raises:
            InputError: one was named, and is not there.
        """
        file = self.request.audit_log or self.desired.audit_log
        if file is not None and not file.exists():
            raise InputError(
                f"{file}: no such file", remedy="leave --audit-log out, or name a file or folder"
            )
        return file

    def _trail(self) -> Callable[[], AuditTrail] | None:
        file = self.audit_log
        if file is None:
            return None
        from holdfast.cluster.audit_log import read_audit_log  # noqa: PLC0415  (only when wanted)

        return cache(lambda: AuditTrail.of(read_audit_log(file)))


def _notes_on(baseline: "Baseline") -> Iterator[str]:
    """What the user should know of the record that the cluster is compared with."""
    if baseline.reason:
        yield f"no baseline: {baseline.reason}"
    if baseline.untrusted:
        names = ", ".join(str(ref) for ref in baseline.untrusted)
        yield f"no baseline for {names}: a refresh rewrote the record; the next update makes one"
    yield from baseline.warnings


def _half_done(ref: ObjectRef) -> NotChecked:
    remedy = "run `pulumi cancel`, then `pulumi up`"
    return NotChecked(str(ref), f"an interrupted update left it half done: {remedy}")


def _under_way(stack: str, who: str) -> NotChecked:
    remedy = f"wait for it to end; if it is dead, run `pulumi cancel -s {stack}`"
    return NotChecked(f"stack {stack}", f"{who} is changing it: {remedy}")


def _never(_: Identity, __: KubeObject) -> bool:
    return False


def _is_namespaced(api_version: str, kind: str) -> bool | None:
    entry = builtin_kind(api_version, kind)
    return None if entry is None else entry.is_namespaced


def _by_identity(objects: Iterable[KubeObject]) -> dict[tuple[str, str, str, str], KubeObject]:
    return {reference_of(one).identity: one for one in objects}
