"""One scan of a stack, or of plain objects: desired and live objects are read, and compared."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.adapters.cluster.audit_log import read_audit_log
from holdfast.drift.cause.attribution import AuditTrail, session_findings, with_sessions
from holdfast.drift.cause.causes import causes_of
from holdfast.drift.context import AuditTrails, DriftContext
from holdfast.drift.exemption.controllers import Autoscalers, Failovers, Rollouts
from holdfast.drift.finding import DriftReport, Objects
from holdfast.drift.plan.deployed import deployed_object
from holdfast.drift.refresh_preview import with_record_findings, with_refresh_preview
from holdfast.drift.scan import DriftJudge, LiveState, agents_of
from holdfast.drift.severity import RuleJudge
from holdfast.errors import HoldfastError, InputError
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, placed, reference_of
from holdfast.kube.structure import TypeTable, is_namespaced
from holdfast.manifest.text.kube_files import read_kube_objects
from holdfast.manifest.types.marks import agent_of
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.scan.confirmations import Confirmations, journal_records
from holdfast.operations.scan.desired import (
    DesiredState,
    desired_objects_of_files,
    desired_objects_of_stack,
)
from holdfast.operations.scan.engine_check import (
    EngineAnswer,
    ask_refresh,
    nothing_to_ask,
    targets_of,
    with_answer,
)
from holdfast.operations.scan.kept_objects import KeptObjects, with_kept_objects
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.scan.other_stacks import OtherStacks
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.stack.declared_stack import DeclaredStack, judge_of

if TYPE_CHECKING:
    from holdfast.operations.stack.context import StackContext


@dataclass(frozen=True)
class Scan:
    """One comparison and what it was made from.

    Attributes:
        desired: Declared objects by identity, with their namespaces.
        agent: The only agent whose objects were read; empty for the whole stack.
    """

    report: DriftReport
    desired: dict[Identity, KubeObject]
    live: LiveState
    context: DriftContext
    agent: str = ""

    def target(self, ref: ObjectRef) -> KubeObject:
        """What a revert restores: what the last update deployed, else what is declared."""
        return deployed_object(ref, self.desired[ref.identity], self.context)


@dataclass(frozen=True)
class AuditLogFile:
    """The audit log of a file, read when it is first needed."""

    file: Path

    def read(self) -> AuditTrail:
        """Who changed what, as far as the log says."""
        return self._trail

    @cached_property
    def _trail(self) -> AuditTrail:
        return AuditTrail.of(read_audit_log(self.file))


@dataclass(frozen=True)
class Scanner:
    """Reads what a request names, each part when first used, and compares it.

    Attributes:
        request: What is compared.
        progress: Takes notes on what could not be read.
        context: The stack's context, of a caller that has one already.
    """

    request: ScanRequest
    progress: Progress = SILENT
    context: "StackContext | None" = None

    @cached_property
    def stack(self) -> DeclaredStack:
        """The stack that is scanned.

        Raises:
            InputError: plain objects are.
        """
        request = self.request
        return DeclaredStack(
            request.project_root,
            request.stack,
            request.ignore_file,
            request.use_cache,
            self.context,
        )

    @cached_property
    def desired(self) -> DesiredState:
        """What should be there."""
        if self.request.desired is not None:
            return desired_objects_of_files(self.request.desired, self.request.ignore_file)
        return desired_objects_of_stack(
            self.stack, self.progress, asks_cluster=self.request.live is None
        )

    @cached_property
    def cluster(self) -> ClusterSource:
        """The cluster to read."""
        context = self.request.context or self.desired.context
        kubeconfig = self.request.kubeconfig or self.desired.kubeconfig
        timeout_seconds = self.request.request_timeout_seconds
        return ClusterSource.connect(kubeconfig, context, timeout_seconds, self.progress)

    @cached_property
    def judge(self) -> RuleJudge:
        """The policy pack's verdict on one object, with the stack's settings and exceptions."""
        return judge_of(
            self.desired.environment,
            self.desired.policy_rules,
            lambda: self.stack.context.fleet if self.request.stack else None,
        )

    @property
    def reads_the_stack(self) -> bool:
        """Whether the live objects are those of the stack: of its cluster, and of no file."""
        request = self.request
        is_other_context = request.context not in (None, self.desired.context)
        return bool(request.stack) and request.live is None and not is_other_context

    def run(self, *, engine: bool | None = None) -> Scan:
        """Scan, and ask Pulumi's refresh as far as it is wanted.

        Args:
            engine: True: side by side, about the whole stack, and no answer means incomplete. None:
                only about what the scan found, so that a stack in sync costs no run of the engine.
                False: not at all.
        """
        if not self.request.stack:
            return self.scan()
        if engine:
            with ThreadPoolExecutor(1) as thread:
                scanning = thread.submit(self.scan, keeps_all=True)
                # In this thread, so that a signal reaches the engine.
                answer = self._ask_engine()
                scan = scanning.result()
            return _with_engine(scan, answer, is_required=True)
        scan = self.scan()
        if engine is False:
            return _with_engine(scan, EngineAnswer(detail="--no-engine"))
        targets = targets_of(scan.report, self.desired.urns)
        answer = self._ask_engine(targets) if targets else nothing_to_ask(scan.report)
        return _with_engine(scan, answer)

    def _ask_engine(self, targets: Sequence[str] = ()) -> EngineAnswer:
        context = self.request.context
        if context not in (None, self.desired.context):
            return EngineAnswer(detail=f"--context {context} is not the context of the stack")
        # Credentials that may only read serve both layers.
        kubeconfig = self.request.kubeconfig or self.desired.kubeconfig
        timeout_seconds = self.request.engine_timeout_seconds
        return ask_refresh(self.stack, kubeconfig, targets, self.progress, timeout_seconds)

    def placed(self, objects: Iterable[KubeObject]) -> list[KubeObject]:
        """Objects with their namespace: as the cluster says, or Kubernetes where there is none."""
        if self.request.live is not None:
            return placed(objects, is_namespaced, "default")
        return self.cluster.placed(objects)

    def scan(self, *, keeps_all: bool = False, agent: str = "") -> Scan:
        """Read what is live now, and compare.

        Args:
            keeps_all: What is in sync is kept, too, to be compared with something else.
            agent: Read and compare only what belongs to this agent; empty for everything.
        """
        if self.request.live is not None:
            return self._scan_of_file(self.request.live)
        objects = self.placed(self.desired.objects)
        chosen = [one for one in objects if agent in ("", agent_of(one))]
        context = self.surroundings(objects, self.cluster.types())
        judge = DriftJudge(objects, context, self.desired.stack)
        is_settled = _never if keeps_all else judge.is_in_sync
        live = self.cluster.read(chosen, self.desired.stack, is_settled, agent)
        live = self.desired.without_in_flight(live, judge.declared)
        if not agent:
            scan = self._compared(judge, live)
            if self._kept is None:
                return scan
            report = with_kept_objects(scan.report, self._kept, judge, self.cluster.live)
            return replace(scan, report=report)
        only = {reference_of(one).identity for one in chosen}
        only |= live.objects.keys() - judge.declared.keys()
        return replace(self._compared(judge, live, only), agent=agent)

    def _scan_of_file(self, file: Path) -> Scan:
        objects = self.placed(self.desired.objects)
        found = _by_identity(one.kube_object for one in read_kube_objects(file))
        context = self.surroundings(objects, [])
        judge = DriftJudge(objects, context, self.desired.stack)
        return self._compared(judge, LiveState(found, is_whole=True))

    def _compared(
        self, judge: DriftJudge, live: LiveState, only: Collection[Identity] | None = None
    ) -> Scan:
        report = self.finished(judge.report(live, only), judge, only)
        desired = {
            identity: one
            for identity, (_, one) in judge.declared.items()
            if only is None or identity in only
        }
        trail = judge.context.trail
        if trail is not None and self.request.audit_log is not None:
            # Only for a log that was named: reading one takes longer than a scan in sync.
            namespaces = {namespace for _, _, namespace, _ in desired} - {""}
            inside = session_findings(live.objects.values(), trail.read(), namespaces)
            report = with_sessions(report, inside)
        report = replace(
            report,
            agents=agents_of(
                desired.values(), report, live.unread, is_blind=bool(self.desired.not_checked)
            ),
            causes=causes_of(report),
        )
        return Scan(report, desired, live, judge.context)

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
        return with_record_findings(report, recorded, desired, judge.context)

    def surroundings(
        self,
        objects: list[KubeObject],
        types: list[TypeTable],
        trail: AuditTrails | None = None,
    ) -> DriftContext:
        """What judging an object needs beside it; without a `trail` the log is read once."""
        return DriftContext(
            autoscalers=Autoscalers(objects),
            custom_types=types,
            baseline=self._baseline(),
            trail=trail or self._trail(),
            ignore=self.desired.ignore,
            judge=self.judge,
            rollouts=Rollouts(objects),
            failovers=Failovers(objects),
            is_confirmed=self._confirmations,
            is_kept=self._kept or _never_kept,
            controllers=self.desired.controllers,
            find_owner=None if self.request.live is not None else self._owner_finder(),
            declares=self._other_stacks(),
        )

    def _owner_finder(self) -> Callable[[ObjectRef], KubeObject | None]:
        known: dict[ObjectRef, KubeObject] = {}

        def find(ref: ObjectRef) -> KubeObject | None:
            if ref not in known:
                try:
                    owner = self.cluster.live(ref)
                except HoldfastError as error:
                    self.progress.note(f"note: {ref}, named as an owner, cannot be read: {error}")
                    return None
                if owner is None:
                    return None  # it may come: it is asked for each time
                known[ref] = owner
            return known[ref]

        return find

    def _other_stacks(self) -> Callable[[str, Identity], bool] | None:
        request = self.request
        if not request.stack:
            return None
        context = self.desired.context
        return OtherStacks(request.project_root, request.stack, context, self.progress).declares

    @cached_property
    def _confirmations(self) -> Callable[[Mapping[str, Any]], bool]:
        if not self.request.stack:
            return lambda _: False
        root, name = self.request.project_root, self.request.stack
        return Confirmations(lambda: self.stack.history, lambda: journal_records(root, name))

    @cached_property
    def _kept(self) -> KeptObjects | None:
        """What updates of the stack have kept; None where its cluster is not the one read."""
        return KeptObjects(lambda: self.stack.history) if self.reads_the_stack else None

    def _baseline(self) -> Objects | None:
        if self.request.baseline is not None:
            read = read_kube_objects(self.request.baseline)
            return _by_identity(one.kube_object for one in read)
        return self.desired.baseline

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

    def _trail(self) -> AuditTrails | None:
        file = self.audit_log
        return None if file is None else AuditLogFile(file)


def _with_engine(scan: Scan, answer: EngineAnswer, *, is_required: bool = False) -> Scan:
    report = scan.report
    if answer.view is not None:
        report = with_refresh_preview(
            report, answer.view, scan.desired, scan.live.objects, scan.context
        )
    return replace(scan, report=with_answer(report, answer, is_required=is_required))


def _never_kept(_: Mapping[str, Any]) -> bool:
    return False


def _never(_: Identity, __: KubeObject) -> bool:
    return False


def _by_identity(objects: Iterable[KubeObject]) -> dict[Identity, KubeObject]:
    return {reference_of(one).identity: one for one in objects}
