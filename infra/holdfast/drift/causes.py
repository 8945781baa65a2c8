"""One cause of many findings, told once: one change by one hand, or what was never deployed.

Pure. A finding keeps standing by itself; a cause only says which of them belong together.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from holdfast.drift.finding import (
    FIELD_CLASSES,
    Cause,
    DriftClass,
    DriftReport,
    ExpectedBy,
    Finding,
    Objects,
)
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.paths import ItemKey, Path, format_path, value_at

FEWEST_OBJECTS: Final = 2
_NOT_DEPLOYED: Final = "declared since the last update and not deployed"


def causes_of(report: DriftReport, baseline: Objects | None, live: Objects) -> tuple[Cause, ...]:
    """What explains several findings, the largest first.

    Args:
        report: Of a scan.
        baseline: Objects as they were after the last good update; None without one.
        live: Objects of the cluster.
    """
    waiting = [each for each in report.drift if _is_not_deployed(each, baseline, live)]
    causes = list(_same_hands([each for each in report.drift if each not in waiting]))
    if waiting:
        objects = len({each.ref for each in waiting})
        summary = f"{_NOT_DEPLOYED}: {len(waiting)} findings in {objects} objects"
        causes.append(Cause(summary, tuple(waiting), "run `pulumi up`, or take the change back"))
    return tuple(sorted(causes, key=lambda cause: -len(cause.findings)))


def _is_not_deployed(finding: Finding, baseline: Objects | None, live: Objects) -> bool:
    """Whether the cluster still is as the last update left it, and the declaration has moved."""
    if baseline is None:
        return False
    identity = finding.ref.identity
    before = baseline.get(identity)
    if finding.drift_class is DriftClass.MISSING:
        return before is None
    now = live.get(identity)
    if before is None or now is None or finding.expected_by is not ExpectedBy.DECLARATION:
        return False
    if finding.drift_class not in FIELD_CLASSES:
        return False
    old, new = (_value(each, finding.path) for each in (before, now))
    return bool(old == new)


def _value(one: Mapping[str, Any], path: Path) -> object:
    return value_at(normalise_object(one), path)


def _same_hands(findings: Sequence[Finding]) -> Iterator[Cause]:
    """The same change of the same field by the same hand, in several objects."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if finding.actors:
            actor = finding.actors[0]
            what = (finding.drift_class.value, finding.ref.kind, _shape(finding.path))
            groups.setdefault((*what, actor.user, actor.manager), []).append(finding)
    for (done, kind, path, user, manager), found in groups.items():
        objects = len({each.ref for each in found})
        if objects >= FEWEST_OBJECTS:
            who = " through ".join(part for part in (user, manager) if part)
            where = f" {path}" if path else ""
            yield Cause(f"{done}{where} in {objects} objects of kind {kind} by {who}", tuple(found))


def _shape(path: Path) -> str:
    """A path without the names of items: containers are called after their agents."""
    return format_path(tuple("*" if isinstance(each, ItemKey | int) else each for each in path))
