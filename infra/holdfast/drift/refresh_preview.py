"""What a Pulumi refresh reports, and what one has written into the record of the stack. Pure.

Pulumi names list items by index and reports every item after an inserted one. Both sides are
brought to indices here: a finding counts as seen by Pulumi when its refresh reports the same field,
a part of it or a whole that contains it. What only Pulumi reports is a remark: the scan has
compared the same field and found the same meaning, or the record is out of date.

After a refresh has rewritten the record, the engine compares with drifted values and sees nothing.
The record is therefore judged like a live object, and what would be drift there is a finding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from holdfast.drift.context import DriftContext
from holdfast.drift.finding import (
    FIELD_CLASSES,
    DriftClass,
    DriftReport,
    ExpectedBy,
    Finding,
    Objects,
    Severity,
)
from holdfast.drift.masking import mask_pair
from holdfast.drift.object_drift import field_findings
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import ItemKey, Path, Segment, parse_path, value_at
from holdfast.kube.structure import ListType, Structure
from holdfast.manifest.types.marks import agent_of

PULUMI: Final = "pulumi"


@dataclass(frozen=True)
class RefreshDifference:
    """One property that the engine reports.

    Attributes:
        path: In Pulumi's notation, list items by index.
        kind: `add`, `delete` or `update`, with `-replace` when it forces a replacement.
    """

    path: str
    kind: str


@dataclass(frozen=True)
class RefreshPreview:
    """What a refresh of the engine reports.

    Attributes:
        differences: By object; an object that is only unhealthy has none.
        gone: Objects that it no longer finds.
    """

    differences: Mapping[Identity, tuple[RefreshDifference, ...]] = field(default_factory=dict)
    gone: frozenset[Identity] = frozenset()


def with_refresh_preview(
    report: DriftReport,
    view: RefreshPreview,
    desired: Objects,
    live: Objects,
    context: DriftContext,
) -> DriftReport:
    """The report with Pulumi among `seen_by` where it is, and with what only Pulumi sees.

    Law: no finding of the scan is dropped or changed but for `seen_by`.

    Args:
        report: Of the scan.
        view: What the engine reports.
        desired: Declared objects by identity.
        live: Objects of the cluster by identity.
        context: For the keys of lists.
    """
    findings = [_with_second_opinion(each, view, desired, live) for each in report.findings]
    for identity, differences in view.differences.items():
        wanted, found = desired.get(identity), live.get(identity)
        if wanted is None or found is None:
            continue
        ref = reference_of(wanted)
        own = [each for each in report.findings if each.ref.identity == identity]
        pair = _Pair(ref, wanted, found, context.structure_of(ref, found))
        findings += pair.remarks(differences, own)
    findings.sort(key=lambda finding: finding.sort_key)
    return replace(report, findings=tuple(findings))


def _with_second_opinion(
    finding: Finding, view: RefreshPreview, desired: Objects, live: Objects
) -> Finding:
    identity = finding.ref.identity
    if finding.drift_class is DriftClass.MISSING:
        is_seen = identity in view.gone
    elif finding.drift_class in FIELD_CLASSES:
        places = _places(finding.path, desired.get(identity), live.get(identity))
        reported = (parse_path(each.path) for each in view.differences.get(identity, ()))
        is_seen = any(_meet(path, place) for path in reported for place in places)
    else:
        is_seen = False
    return replace(finding, seen_by=(*finding.seen_by, PULUMI)) if is_seen else finding


def _places(path: Path, *objects: Mapping[str, Any] | None) -> list[Path]:
    """The path by indices, in each object that has it."""
    found = (_by_index(path, each) for each in objects if each is not None)
    return [place for place in found if place is not None]


def _by_index(path: Path, value: Any) -> Path | None:  # noqa: ANN401  (any JSON value)
    indexed: list[Segment] = []
    for segment in path:
        place: Segment = segment
        if isinstance(segment, ItemKey):
            items = value if isinstance(value, list) else []
            found = next((i for i, item in enumerate(items) if segment.selects(item)), None)
            if found is None:
                return None
            place = found
        indexed.append(place)
        value = value_at(value, (place,))
    return tuple(indexed)


def _meet(first: Path, second: Path) -> bool:
    """Whether one is the other, a part of it or a whole around it."""
    length = min(len(first), len(second))
    return first[:length] == second[:length]


@dataclass(frozen=True)
class _Pair:
    """One object on both sides, and what the engine says of it."""

    ref: ObjectRef
    desired: Mapping[str, Any]
    live: Mapping[str, Any]
    structure: Structure

    def remarks(
        self, differences: Sequence[RefreshDifference], findings: Sequence[Finding]
    ) -> Iterator[Finding]:
        """What no finding of the scan stands for."""
        known = [
            place for each in findings for place in _places(each.path, self.desired, self.live)
        ]
        shifted = [place[:-1] for place in known if place and isinstance(place[-1], int)]
        for difference in differences:
            path = parse_path(difference.path)
            if any(_meet(path, place) for place in known):
                continue
            if any(path[: len(items)] == items for items in shifted):
                continue  # an item came or went in this list: Pulumi blames those behind it
            yield self._remark(path, difference.kind)

    def _remark(self, path: Path, kind: str) -> Finding:
        classes = {"add": DriftClass.ADDED, "delete": DriftClass.REMOVED}
        sides = (value_at(each, path) for each in (self.desired, self.live))
        shown = self._keyed(path)
        wanted, found = mask_pair(self.desired, shown, *sides)
        return Finding(
            ref=self.ref,
            agent=agent_of(self.desired),
            drift_class=classes.get(kind.partition("-")[0], DriftClass.CHANGED),
            path=shown,
            desired=wanted,
            live=found,
            severity=Severity.INFO,
            seen_by=(PULUMI,),
        )

    def _keyed(self, path: Path) -> Path:
        """The path as the rest of Holdfast writes it: items of keyed lists by their keys."""
        place = self.structure
        shown: list[Segment] = []
        for depth, segment in enumerate(path):
            item = value_at(self.desired, path[: depth + 1]) or value_at(
                self.live, path[: depth + 1]
            )
            if (
                isinstance(segment, int)
                and place.list_type is ListType.KEYED
                and isinstance(item, Mapping)
            ):
                pairs = ((key, item.get(key, place.item.defaults.get(key))) for key in place.keys)
                shown.append(ItemKey(tuple(pairs)))
            else:
                shown.append(segment)
            place = place.field(segment) if isinstance(segment, str) else place.item
        return tuple(shown)


def with_record_findings(
    report: DriftReport, recorded: Iterable[KubeObject], desired: Objects, context: DriftContext
) -> DriftReport:
    """The report with one finding a field that only the rewritten record still has wrong.

    Args:
        report: Of the scan.
        recorded: Objects as the newest checkpoint has them, where a refresh wrote it.
        desired: Declared objects by identity.
        context: With the baseline of the last update.
    """
    known = {(each.ref.identity, each.path) for each in report.findings}
    stale = [
        each
        for one in recorded
        for each in _stale(one, desired, context)
        if (each.ref.identity, each.path) not in known
        and not (context.ignore and context.ignore.rule_for(each))
    ]
    if not stale:
        return report
    findings = sorted([*report.findings, *stale], key=lambda finding: finding.sort_key)
    return replace(report, findings=tuple(findings))


def _stale(recorded: KubeObject, desired: Objects, context: DriftContext) -> Iterator[Finding]:
    ref = reference_of(recorded)
    wanted = desired.get(ref.identity)
    if wanted is None:
        return
    for each in field_findings(ref, dict(wanted), recorded, context):
        if each.is_drift:
            yield replace(
                each,
                severity=Severity.LOW,
                policies=(),
                expected_by=ExpectedBy.RECORD,
                next_update=None,
            )
