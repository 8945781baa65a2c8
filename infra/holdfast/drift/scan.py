"""Everything declared against everything live: the whole report of one scan. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from holdfast.drift.finding import DriftClass, DriftReport, Finding, NotChecked, Objects
from holdfast.drift.object_drift import DriftContext, object_findings, whole_object_finding
from holdfast.drift.owner_references import Owners
from holdfast.drift.unmanaged import UnmanagedFinder
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of


@dataclass(frozen=True)
class LiveState:
    """What the cluster (or a file) holds, as far as it could be read.

    Attributes:
        objects: By identity; of the kinds that are declared also those that nobody declared.
        unread: Which declared objects could not be looked at, and why.
        watched: Group and kind of what was read although nobody declares any: of these, metadata.
        settled: Declared objects that were judged when they were read, and are in sync.
        is_whole: Everything there is: what is not in `objects` does not exist. So of files.
    """

    objects: Objects
    unread: Mapping[Identity, NotChecked] = field(default_factory=dict)
    not_checked: tuple[NotChecked, ...] = ()
    watched: frozenset[tuple[str, str]] = frozenset()
    settled: Collection[Identity] = frozenset()
    is_whole: bool = False


class DriftJudge:
    """Judges live objects by one declaration: all of them, or only those that moved.

    Law: the findings of a whole report are those of its objects judged one by one.

    Attributes:
        declared: Reference and declaration of every declared object, by identity.
        context: What judging an object needs beside it.
    """

    def __init__(
        self, desired: Sequence[KubeObject], context: DriftContext, stack: str = ""
    ) -> None:
        """Prepare to judge.

        Args:
            desired: Each with its namespace filled in; no identity twice.
            context: What judging an object needs beside it.
            stack: Name in the label of the objects of this stack; empty where there is none.
        """
        self.context = context
        pairs = [(reference_of(one), one) for one in desired]
        self.declared = {ref.identity: (ref, one) for ref, one in pairs}
        self._kinds = {ref.identity.group_kind for ref, _ in pairs}
        self._strangers = UnmanagedFinder(desired, stack)

    def report(self, live: LiveState, only: Collection[Identity] | None = None) -> DriftReport:
        """Compare declared objects with live ones, and look for objects nobody declared.

        Args:
            live: What the cluster holds.
            only: Identities to judge, as far as they are known here; None for everything.
        """
        findings: list[Finding] = []
        unchecked = set(live.not_checked)
        checked = 0
        for identity in self.declared if only is None else only:
            if identity not in self.declared:
                continue
            if identity in live.unread:
                unchecked.add(live.unread[identity])
                continue
            if identity in live.settled:
                checked += 1
                continue
            ref, one = self.declared[identity]
            try:
                findings += self._of_declared(ref, one, live.objects.get(identity))
                checked += 1
            except RecursionError:
                unchecked.add(NotChecked(str(ref), "nested too deeply to be compared"))
        findings += self._of_strangers(live, only)
        findings.sort(key=lambda finding: finding.sort_key)
        report = DriftReport(tuple(findings), tuple(sorted(unchecked)), checked)
        rules = self.context.ignore
        return report if rules is None else rules.applied_to(report, is_whole=only is None)

    def is_in_sync(self, identity: Identity, live: Mapping[str, Any]) -> bool:
        """Whether a declared object shows nothing that could be a finding; for any thread.

        Neither an audit log nor a rule is asked: they say something of findings only.
        """
        if identity not in self.declared:
            return False
        ref, desired = self.declared[identity]
        if str(live.get("apiVersion")) != ref.api_version:
            return False
        try:
            return not object_findings(ref, desired, live, self._quiet)
        except RecursionError:
            return False

    @cached_property
    def _quiet(self) -> DriftContext:
        return replace(self.context, trail=None, judge=None)

    def _of_declared(
        self, ref: ObjectRef, desired: KubeObject, found: Mapping[str, Any] | None
    ) -> list[Finding]:
        if found is None:
            return [whole_object_finding(ref, desired, DriftClass.MISSING, self.context)]
        return object_findings(ref, desired, found, self.context)

    def _of_strangers(
        self, live: LiveState, only: Collection[Identity] | None
    ) -> Iterator[Finding]:
        wanted = live.objects if only is None else [key for key in only if key in live.objects]
        candidates = ((key, live.objects[key]) for key in wanted if key not in self.declared)
        owners = Owners(live.objects, self.declared, live.is_whole)
        for found in self._strangers.among(candidates, self._kinds | live.watched, owners):
            ref = reference_of(found)
            yield whole_object_finding(ref, found, DriftClass.UNMANAGED, self.context)
