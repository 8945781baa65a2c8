"""What should be there: a stack, rendered, with what its last update recorded; or plain files."""

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.backend.lock_holder import LockHolder
from holdfast.adapters.engine.state.baseline import Baseline, read_baseline
from holdfast.drift.context import RecordedObjects
from holdfast.drift.exemption.ignore import IgnoreRules
from holdfast.drift.finding import NotChecked
from holdfast.drift.scan import LiveState
from holdfast.errors import InputError, SourceLocation
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.manifest.text.kube_files import read_kube_objects
from holdfast.operations.progress import Progress
from holdfast.operations.scan.scan_context import NO_LOCATIONS, Locations, ObjectLocations
from holdfast.operations.stack.declared_stack import DeclaredStack, file_ignore_rules
from holdfast.operations.stack.project import audit_log_beside, kubeconfig_of_stack
from holdfast.sandbox.paths import sandbox_kubeconfig


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
        pending: Objects that an interrupted update left unfinished: they cannot be judged.
        baseline: Live objects right after the last good update; None without.
        recorded: Objects whose record a refresh has rewritten, as that record has them.
        urns: Resource of each recorded object, as the engine calls it.
        not_checked: What stands in the way of judging the stack as a whole.
        controllers: Controllers that the stack's settings name.
        ignore: Drift that is expected.
        modes: Agent to what is done about its drift: report, revert or adopt.
        locations: Where the field of a finding (else its agent, else its object) is declared.
    """

    objects: tuple[KubeObject, ...]
    stack: str = ""
    environment: str = "prod"
    policy_rules: Mapping[str, Any] = field(default_factory=dict)
    context: str | None = None
    kubeconfig: Path | None = None
    audit_log: Path | None = None
    baseline: RecordedObjects | None = None
    pending: tuple[ObjectRef, ...] = ()
    recorded: tuple[KubeObject, ...] = ()
    urns: Mapping[Identity, str] = field(default_factory=dict)
    not_checked: tuple[NotChecked, ...] = ()
    controllers: frozenset[str] = frozenset()
    ignore: IgnoreRules | None = None
    modes: Mapping[str, str] = field(default_factory=dict)
    locations: Locations = NO_LOCATIONS

    @property
    def in_flight(self) -> dict[Identity, NotChecked]:
        """Objects that an interrupted update left: they cannot be judged."""
        return {ref.identity: _in_flight(ref, self.stack) for ref in self.pending}

    def without_in_flight(self, live: LiveState, declared: Collection[Identity]) -> LiveState:
        """What was read, without what an update under way or one that was killed leaves open.

        Args:
            live: As the cluster has it.
            declared: What can be judged; what else is unfinished stands for itself.
        """
        in_flight = self.in_flight
        beside = (item for identity, item in in_flight.items() if identity not in declared)
        return replace(
            live,
            unread={**live.unread, **in_flight},
            not_checked=(*self.not_checked, *beside),
        )


def desired_objects_of_stack(
    stack: DeclaredStack, progress: Progress, *, asks_cluster: bool = True
) -> DesiredState:
    """Rendered objects of a stack, its cluster settings and its policy profile.

    Args:
        stack: The stack.
        progress: Takes notes on what its record does not say.
        asks_cluster: Whether its cluster is read: then its sandbox must be there.

    Raises:
        InputError: there is no such stack, its files are not valid, or its sandbox is absent.
    """
    with ThreadPoolExecutor(max_workers=1) as reader:
        # Unpacking the record of the last update takes as long as rendering, on another core.
        reading = reader.submit(read_baseline, stack.root, stack.name)
        declared = stack.declaration
        baseline = reading.result()
    for note in _notes_on(baseline):
        progress.note(f"note: {note}")
    if asks_cluster:
        kubeconfig = kubeconfig_of_stack(stack.name, declared.context)
    else:
        # Its audit log says who changed what, where there is one.
        kubeconfig = sandbox_kubeconfig(declared.context) if declared.context else None
    return DesiredState(
        declared.objects,
        stack=stack.name,
        environment=declared.policy_profile,
        policy_rules=declared.policy_rules,
        context=declared.context,
        kubeconfig=kubeconfig,
        audit_log=audit_log_beside(kubeconfig),
        baseline=_recorded(baseline) if baseline.exists else None,
        pending=baseline.pending,
        recorded=baseline.rewritten,
        urns={one.reference.identity: one.urn for one in baseline.objects},
        not_checked=tuple(_under_way(stack.name, who) for who in baseline.running),
        controllers=frozenset(declared.controllers),
        ignore=IgnoreRules(declared.ignore, datetime.now(UTC).date()),
        modes=declared.modes,
        locations=stack,
    )


def desired_objects_of_files(source: Path, ignore_file: Path | None) -> DesiredState:
    """Plain objects of a file or folder.

    Raises:
        InputError: one is declared twice.
    """
    read = read_kube_objects(source)
    places: dict[Identity, SourceLocation] = {}
    for one in read:
        ref = reference_of(one.kube_object)
        if ref.identity in places:
            raise InputError(
                f"{one.file}: {ref} is declared in {places[ref.identity]} already",
                remedy="keep one of the two",
            )
        places[ref.identity] = SourceLocation(one.file)
    return DesiredState(
        tuple(one.kube_object for one in read),
        ignore=file_ignore_rules(ignore_file) if ignore_file is not None else None,
        locations=ObjectLocations(places),
    )


def _recorded(baseline: Baseline) -> RecordedObjects:
    records = {one.reference.identity: one.record for one in baseline.objects}
    unfinished = {one.reference.identity: one.record for one in baseline.unfinished}
    every = unfinished | records
    return RecordedObjects(
        {identity: partial(getattr, one, "live") for identity, one in records.items()},
        {identity: one.uid for identity, one in records.items()},
        read_asked=lambda identity: every[identity].asked if identity in every else None,
        deployed={*unfinished, *(ref.identity for ref in baseline.untrusted)},
    )


def _notes_on(baseline: Baseline) -> Iterator[str]:
    """What the user should know of the record that the cluster is compared with."""
    if baseline.reason:
        yield f"no baseline: {baseline.reason}"
    if baseline.untrusted:
        names = ", ".join(str(ref) for ref in baseline.untrusted)
        yield f"no baseline for {names}: no good update's record is left, until one writes it again"
    yield from baseline.warnings


def _in_flight(ref: ObjectRef, stack: str) -> NotChecked:
    remedy = f"run 'holdfast up -s {stack} --recover'"
    return NotChecked(str(ref), f"in flight, an interrupted update left it unfinished: {remedy}")


def _under_way(stack: str, who: LockHolder) -> NotChecked:
    said = "was killed while it changed it" if who.has_ended else "is changing it"
    return NotChecked(f"stack {stack}", f"{who} {said}: {who.remedy(stack)}")
