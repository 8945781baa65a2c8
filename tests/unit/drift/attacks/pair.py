"""One attack: a declaration, what is live, and whether a scan must call that drift."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from holdfast.drift.cause.attribution import AuditTrail
from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers, Failovers, Rollouts
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.kube.audit import AuditEvent
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.structure import TypeTable

from tests.unit.drift.objects import LATER, live_of, owned_by

UID = "11111111-1111-1111-1111-111111111111"


@dataclass(frozen=True)
class Pair:
    """A declaration and what became of it.

    Attributes:
        name: What the client does, or what the server does.
        is_drift: What a scan must say.
        edits: Path to live value, over the declaration.
        owner: Manager of what was edited; empty where nobody owns it.
        user: User of that write in the audit log; empty without a log.
        baseline: Path to value right after the last update, over the declaration; None without.
        baseline_owner: Manager of those values then.
        beside: Other live objects.
        also_declared: Other declared objects.
        metadata: Over the live metadata.
        status: Of the live object.
        controllers: What the stack's settings list.
        types: Of custom resources.
        is_confirmed: Whether an update has confirmed a recreated object.
    """

    name: str
    is_drift: bool
    desired: KubeObject
    edits: dict[str, Any] = field(default_factory=dict)
    owner: str = ""
    user: str = ""
    baseline: dict[str, Any] | None = None
    baseline_owner: str = ""
    beside: tuple[KubeObject, ...] = ()
    also_declared: tuple[KubeObject, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    status: dict[str, Any] = field(default_factory=dict)
    controllers: frozenset[str] = frozenset()
    types: tuple[TypeTable, ...] = ()
    is_confirmed: bool = False

    def judged(self) -> tuple[bool, list[str]]:
        """Whether it is drift, and the findings in words; quick and full judgement agree."""
        live = _edited(self.desired, self.edits, self.owner)
        live = {**live, "metadata": {**live["metadata"], **self.metadata}, "status": self.status}
        before = None
        if self.baseline is not None:
            before = _edited(self.desired, self.baseline, self.baseline_owner)
        declared = [self.desired, *self.also_declared]
        objects = {reference_of(one).identity: one for one in (live, *self.beside)}
        for one in self.also_declared:
            objects.setdefault(reference_of(one).identity, live_of(one))
        identity = reference_of(self.desired).identity
        context = DriftContext(
            autoscalers=Autoscalers(declared),
            custom_types=self.types,
            baseline=None if before is None else {identity: before},
            trail=_Trail(self) if self.user else None,
            rollouts=Rollouts(declared),
            failovers=Failovers(declared),
            controllers=self.controllers,
            is_confirmed=lambda _: self.is_confirmed,
        )
        judge = DriftJudge(declared, context)
        drift = judge.report(LiveState(objects, is_whole=True)).drift
        # What is sorted out quickly is never looked at again.
        assert not (judge.is_in_sync(identity, live) and drift)
        return bool(drift), [f"{one.drift_class} {one.ref} {one.path}" for one in drift]


def _edited(desired: KubeObject, edits: dict[str, Any], owner: str) -> KubeObject:
    live = live_of(desired, edits)
    for path in edits if owner else ():
        live = owned_by(owner, path, live)
    return live


@dataclass(frozen=True)
class _Trail:
    pair: Pair

    def read(self) -> AuditTrail:
        ref = reference_of(self.pair.desired)
        event = AuditEvent(
            time=datetime.fromisoformat(LATER),
            verb="patch",
            group=ref.group,
            resource=_plural(ref.kind),
            subresource="",
            namespace=ref.namespace,
            name=ref.name,
            user=self.pair.user,
            manager=self.pair.owner,
        )
        return AuditTrail.of([event])


def _plural(kind: str) -> str:
    lower = kind.lower()
    return f"{lower}es" if lower.endswith("s") else f"{lower}s"
