"""Everything declared against everything live: the whole report of one scan. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.drift.finding import DriftClass, DriftReport, Finding, NotChecked, Objects
from holdfast.drift.object_drift import Surroundings, object_findings, whole_object_finding
from holdfast.drift.unmanaged import unmanaged
from holdfast.kube.objects import KubeObject, reference_of

Identity = tuple[str, str, str, str]


@dataclass(frozen=True)
class LiveState:
    """What the cluster (or a file) holds, as far as it could be read.

    Attributes:
        objects: By identity; of the kinds that are declared also those that nobody declared.
        unread: Which declared objects could not be looked at, and why.
        watched: Group and kind of what was read although nobody declares any: of these, metadata.
    """

    objects: Objects
    unread: Mapping[Identity, NotChecked] = field(default_factory=dict)
    not_checked: tuple[NotChecked, ...] = ()
    watched: frozenset[tuple[str, str]] = frozenset()


def find_drift(
    desired: Sequence[KubeObject],
    live: LiveState,
    around: Surroundings,
    stack: str = "",
) -> DriftReport:
    """Compare every declared object with the live one, and look for objects nobody declared.

    Args:
        desired: Each with its namespace filled in; no identity twice.
        live: What the cluster holds.
        around: What judging an object needs beside it.
        stack: Name in the label of the objects of this stack; empty where there is none.
    """
    findings: list[Finding] = []
    unchecked = set(live.not_checked)
    checked = 0
    refs = [reference_of(one) for one in desired]
    for ref, one in zip(refs, desired, strict=True):
        if ref.identity in live.unread:
            unchecked.add(live.unread[ref.identity])
            continue
        checked += 1
        found = live.objects.get(ref.identity)
        if found is None:
            findings.append(whole_object_finding(ref, one, DriftClass.MISSING, around))
            continue
        try:
            findings += object_findings(ref, one, found, around)
        except RecursionError:
            checked -= 1
            unchecked.add(NotChecked(str(ref), "nested too deeply to be compared"))
    kinds = {ref.identity[:2] for ref in refs} | live.watched
    declared = {ref.identity for ref in refs}
    strangers = ((key, one) for key, one in live.objects.items() if key not in declared)
    for found in unmanaged(desired, strangers, kinds, stack):
        ref = reference_of(found)
        findings.append(whole_object_finding(ref, found, DriftClass.UNMANAGED, around))
    findings.sort(key=lambda finding: finding.sort_key)
    return DriftReport(tuple(findings), tuple(sorted(unchecked)), checked)
