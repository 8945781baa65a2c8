"""What should be there: a stack, rendered, with what its last update recorded; or plain files."""

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.drift.exemption.ignore import IgnoreRules
from holdfast.drift.finding import Finding, NotChecked
from holdfast.drift.record.recorded import RecordedObjects
from holdfast.drift.rules import RuleJudge
from holdfast.drift.scan import LiveState
from holdfast.errors import InputError, SourceLocation
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.operations.policy.judge import judge_of
from holdfast.operations.stack.declaration import StackDeclaration, declaration_of

if TYPE_CHECKING:
    from holdfast.adapters.engine.backend.lock_holder import LockHolder
    from holdfast.adapters.engine.state.baseline import Baseline
    from holdfast.manifest.fleet.fleet import Fleet
    from holdfast.operations.stack.context import StackContext
    from holdfast.render.provenance.origins import Origins


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
        find_origins: Reads which line of which file declares a field; None for plain objects.
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
    ignore: IgnoreRules | None = None
    modes: Mapping[str, str] = field(default_factory=dict)
    find_origins: Callable[[], "Origins | None"] = field(default=lambda: None)
    place_of: Callable[[Finding], SourceLocation | None] = field(default=lambda _: None)

    @property
    def half_done(self) -> dict[Identity, NotChecked]:
        """Objects that an interrupted update left: they cannot be judged."""
        return {ref.identity: _half_done(ref, self.stack) for ref in self.pending}

    def as_far_as_known(self, live: LiveState, declared: Collection[Identity]) -> LiveState:
        """What was read, without what an update under way or one that was killed leaves open.

        Args:
            live: As the cluster has it.
            declared: What can be judged; what else is half done stands for itself.
        """
        half_done = self.half_done
        beside = (item for identity, item in half_done.items() if identity not in declared)
        return replace(
            live,
            unread={**live.unread, **half_done},
            not_checked=(*self.not_checked, *beside),
        )

    @property
    def judge(self) -> RuleJudge:
        """The policy pack's verdict on one object, with the stack's settings and exceptions."""

        def fleet() -> "Fleet | None":
            return self.origins.fleet if self.origins else None

        return judge_of(self.environment, self.policy_rules, fleet)

    @cached_property
    def origins(self) -> "Origins | None":
        """Which line of which file declares a field; None for plain objects."""
        return self.find_origins()


def desired_objects_of_stack(
    stack: str, ignore_file: Path | None = None, *, may_be_kept: bool = False
) -> DesiredState:
    """Rendered objects of a stack, its cluster settings and its policy profile.

    Args:
        stack: Name of the stack.
        ignore_file: Rules on expected drift; default the project's own.
        may_be_kept: What was rendered by an earlier run will do, where it still holds.
    """
    from holdfast.adapters.engine.state.baseline import read_baseline  # noqa: PLC0415  (as above)
    from holdfast.operations.stack.cluster import (  # noqa: PLC0415  (as above)
        audit_log_beside,
        kubeconfig_of_stack,
    )
    from holdfast.operations.stack.project import find_project_root  # noqa: PLC0415  (files need no project)

    root = find_project_root()
    with ThreadPoolExecutor(max_workers=1) as reader:
        # Unpacking the record of the last update takes as long as rendering, on another core.
        reading = reader.submit(read_baseline, root, stack)
        source = _DeclarationSource(root, stack, ignore_file)
        declared = source.kept if may_be_kept else source.made
        baseline = reading.result()
    for note in _notes_on(baseline):
        click.echo(f"note: {note}", err=True)
    kubeconfig = kubeconfig_of_stack(stack, declared.context)
    return DesiredState(
        declared.objects,
        stack=stack,
        environment=declared.policy_profile,
        policy_rules=declared.policy_rules,
        context=declared.context,
        kubeconfig=kubeconfig,
        audit_log=audit_log_beside(kubeconfig),
        baseline=_recorded(baseline) if baseline.exists else None,
        pending=baseline.pending,
        recorded=baseline.rewritten,
        urns={one.reference.identity: one.urn for one in baseline.objects},
        not_checked=tuple(_under_way(stack, who) for who in baseline.running),
        ignore=IgnoreRules(declared.ignore, datetime.now(UTC).date()),
        modes=declared.modes,
        find_origins=source.find_origins,
        place_of=source.place_of,
    )


@dataclass(frozen=True)
class _DeclarationSource:
    """Where a stack's declaration comes from: its files, read when they are first needed."""

    root: Path
    stack: str
    ignore_file: Path | None

    @cached_property
    def _state(self) -> "StackContext":
        from holdfast.operations.stack.context import StackContext  # noqa: PLC0415  (the models are slow)

        return StackContext(self.root, self.stack)

    @property
    def made(self) -> StackDeclaration:
        """What the files say now."""
        return declaration_of(self._state, self.ignore_file)

    @property
    def kept(self) -> StackDeclaration:
        """The same, from an earlier run where that still holds."""
        from holdfast.operations.stack.declaration_cache import DeclarationCache  # noqa: PLC0415  (one verb's)

        cache = DeclarationCache(self.root, self.stack, self.ignore_file)
        return cache.declaration(lambda: self.made)

    def find_origins(self) -> "Origins":
        """Which line of which file declares a field."""
        return self._origins

    def place_of(self, finding: Finding) -> SourceLocation | None:
        """Where the field of a finding is declared."""
        return self._find_place(finding)

    @cached_property
    def _origins(self) -> "Origins":
        from holdfast.render.provenance.origins import Origins  # noqa: PLC0415  (the models are slow)

        return Origins(self._state.fleet, self.stack)

    @cached_property
    def _find_place(self) -> Callable[[Finding], SourceLocation | None]:
        from holdfast.operations.stack.source_locations import places_in  # noqa: PLC0415  (as above)

        return places_in(self._origins)


def desired_objects_of_files(source: Path, ignore_file: Path | None) -> DesiredState:
    """Plain objects of a file or folder.

    Raises:
        InputError: one is declared twice.
    """
    from holdfast.manifest.text.kube_files import read_kube_objects  # noqa: PLC0415  (stacks need none)

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
        ignore=_rules_in(ignore_file),
        place_of=lambda finding: places.get(finding.ref.identity),
    )


def _rules_in(ignore_file: Path | None) -> IgnoreRules | None:
    if ignore_file is None:
        return None
    from holdfast.operations.stack.ignore_rules import ignore_rules  # noqa: PLC0415  (the models are slow)

    return ignore_rules(ignore_file)


def _recorded(baseline: "Baseline") -> RecordedObjects:
    records = {one.reference.identity: one.record for one in baseline.objects}
    return RecordedObjects(
        {identity: partial(getattr, one, "live") for identity, one in records.items()},
        {identity: one.uid for identity, one in records.items()},
    )


def _notes_on(baseline: "Baseline") -> Iterator[str]:
    """What the user should know of the record that the cluster is compared with."""
    if baseline.reason:
        yield f"no baseline: {baseline.reason}"
    if baseline.untrusted:
        names = ", ".join(str(ref) for ref in baseline.untrusted)
        yield f"no baseline for {names}: no good update's record is left, until one writes it again"
    yield from baseline.warnings


def _half_done(ref: ObjectRef, stack: str) -> NotChecked:
    remedy = f"run 'holdfast up -s {stack} --recover'"
    return NotChecked(str(ref), f"in flight, an interrupted update left it half done: {remedy}")


def _under_way(stack: str, who: "LockHolder") -> NotChecked:
    said = "was killed while it changed it" if who.has_ended else "is changing it"
    return NotChecked(f"stack {stack}", f"{who} {said}: {who.remedy(stack)}")
