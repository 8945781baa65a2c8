"""What earlier updates have kept in the cluster: listed by a scan, and no drift.

An update that removes an agent leaves its claims. They are known by the uids that the update has
recorded, so that no label makes an object of somebody else one of them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from holdfast.adapters.engine.state.history import History
from holdfast.adapters.engine.state.kept_objects import KeptObject, named_in
from holdfast.adapters.engine.update_record import kept_of
from holdfast.drift.context import DriftContext, uid_of, was_deployed
from holdfast.drift.finding import DriftReport, Finding, with_findings
from holdfast.drift.scan import DriftJudge
from holdfast.errors import ClusterError, HoldfastError
from holdfast.kube.objects import Identity, KubeObject, ObjectRef


@dataclass(frozen=True)
class KeptObjects:
    """What the updates of one stack have kept; read when it is first asked for.

    Attributes:
        read_history: The engine's history.
    """

    read_history: Callable[[], History]

    def __call__(self, live: Mapping[str, Any]) -> bool:
        """Whether an update has kept this very object."""
        return uid_of(live) in self._uids

    @cached_property
    def all(self) -> tuple[KeptObject, ...]:
        """Each once, as the newest update that kept it names it."""
        try:
            history = self.read_history()
            changes = [history.change(each) for each in range(len(history.saved_seconds))]
        except HoldfastError:
            return ()  # what cannot be read exempts nothing
        updates = (each for each in changes if each.kind == "update")
        found = {one.uid: one for each in updates for one in named_in(kept_of(each)) if one.uid}
        return tuple(found.values())

    @cached_property
    def _uids(self) -> frozenset[str]:
        return frozenset(each.uid for each in self.all)


def with_kept_objects(
    report: DriftReport,
    kept: KeptObjects,
    judge: DriftJudge,
    read: Callable[[ObjectRef], KubeObject | None],
) -> DriftReport:
    """The report with a remark for each kept object that is still there and not declared.

    Args:
        report: Of the whole stack.
        kept: What its updates have kept.
        judge: That judged the stack.
        read: Reads a live object; None where there is none.
    """
    seen = {finding.ref.identity for finding in report.findings} | judge.declared.keys()
    remarks: list[Finding] = []
    for each in _left(kept, seen, judge.context):
        try:
            live = read(each.reference)
        except ClusterError:
            continue  # a remark needs no rights that a scan does not need otherwise
        if live is not None and uid_of(live) == each.uid:
            remarks.append(judge.remark_on_kept(each.reference, live))
    return with_findings(report, remarks)


def _left(kept: KeptObjects, seen: set[Identity], context: DriftContext) -> Iterator[KeptObject]:
    for each in kept.all:
        identity = each.reference.identity
        # An update that failed may have named what is still of the stack.
        if identity not in seen and not was_deployed(context.baseline or {}, identity):
            yield each
