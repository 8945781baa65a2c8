"""Where the parts of a comparison come from: files, a stack, a cluster, an audit log. Wiring."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.drift.cause.attribution import AuditTrail
from holdfast.drift.cause.causes import causes_of
from holdfast.drift.exemption.autoscaling import Autoscalers
from holdfast.drift.exemption.failovers import Failovers
from holdfast.drift.exemption.rollouts import Rollouts
from holdfast.drift.finding import DriftReport, Objects, with_findings
from holdfast.drift.object_drift import Surroundings
from holdfast.drift.record.record import with_record_findings
from holdfast.drift.rollup import agents_of
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.drift.sessions import session_findings
from holdfast.errors import InputError
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.kube.placement import placed
from holdfast.kube.structure import TypeTable, builtin_kind
from holdfast.manifest.text.kube_files import read_kube_objects
from holdfast.operations.scan.desired import (
    DesiredState,
    desired_objects_of_files,
    desired_objects_of_stack,
)
from holdfast.operations.scan.live import ClusterSource

if TYPE_CHECKING:
    from holdfast.adapters.engine.state.history import History


@dataclass(frozen=True)
class DriftRequest:
    """What the command line asks for.

    Attributes:
        is_made_anew: What an earlier run has rendered will not do, even where it still holds.
    """

    stack: str = ""
    desired: Path | None = None
    live: Path | None = None
    baseline: Path | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    audit_log: Path | None = None
    request_timeout: float = 60.0
    ignore_file: Path | None = None
    is_made_anew: bool = True


@dataclass(frozen=True)
class Scan:
    """One comparison and what it was made from.

    Attributes:
        desired: Declared objects by identity, with their namespaces.
    """

    report: DriftReport
    desired: dict[Identity, KubeObject]
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
            return desired_objects_of_stack(
                self.request.stack,
                self.request.ignore_file,
                may_be_kept=not self.request.is_made_anew,
            )
        assert self.request.desired is not None  # noqa: S101  (the command line has looked)
        return desired_objects_of_files(self.request.desired, self.request.ignore_file)

    @cached_property
    def history(self) -> "History":
        """The engine's history of the stack; read when it is first asked for something."""
        from holdfast.operations.deploy.facts import engine_history  # noqa: PLC0415  (as above)
        from holdfast.operations.stack.project import find_project_root  # noqa: PLC0415  (files need no project)

        return engine_history(find_project_root(), self.request.stack)

    @cached_property
    def cluster(self) -> ClusterSource:
        """The cluster to look at."""
        context = self.request.context or self.desired.context
        kubeconfig = self.request.kubeconfig or self.desired.kubeconfig
        return ClusterSource.connect(kubeconfig, context, self.request.request_timeout)

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
        return self._compared(judge, self.desired.as_far_as_known(live, judge.declared))

    def _scan_of_file(self, file: Path) -> Scan:
        objects = self.placed(self.desired.objects)
        found = _by_identity(one.kube_object for one in read_kube_objects(file))
        around = self.surroundings(objects, [], found.values)
        judge = DriftJudge(objects, around, self.desired.stack)
        return self._compared(judge, LiveState(found, is_whole=True))

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
                desired.values(), report, live.unread, is_blind=bool(self.desired.not_checked)
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
            failovers=Failovers(objects),
            is_during_update=self._is_during_update(),
        )

    def _is_during_update(self) -> Callable[[float], bool] | None:
        if not self.request.stack:
            return None
        from holdfast.adapters.engine.state.history import position_covering  # noqa: PLC0415  (files need none)

        return lambda seconds: position_covering(self.history, seconds) is not None

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

    def _trail(self) -> Callable[[], AuditTrail] | None:
        file = self.audit_log
        if file is None:
            return None
        from holdfast.adapters.cluster.audit_log import read_audit_log  # noqa: PLC0415  (only when wanted)

        return cache(lambda: AuditTrail.of(read_audit_log(file)))


def _never(_: Identity, __: KubeObject) -> bool:
    return False


def _is_namespaced(api_version: str, kind: str) -> bool | None:
    entry = builtin_kind(api_version, kind)
    return None if entry is None else entry.is_namespaced


def _by_identity(objects: Iterable[KubeObject]) -> dict[Identity, KubeObject]:
    return {reference_of(one).identity: one for one in objects}
