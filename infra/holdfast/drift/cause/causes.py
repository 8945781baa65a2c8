"""One cause of many findings, told once: one change by one source, or what was never deployed.

Pure. A finding keeps standing by itself; a cause only says which of them belong together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from holdfast.drift.finding import (
    FIELD_CLASSES,
    Cause,
    DriftClass,
    DriftReport,
    ExpectedBy,
    Finding,
    NextUpdate,
    Objects,
)
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.paths import ItemKey, Path, format_path, value_at

FEWEST_OBJECTS: Final = 2
_NOT_DEPLOYED: Final = "the declaration has changed since the last update and is not deployed"


@dataclass(frozen=True)
class ChangeSource:
    """One change by one source, wherever it was made.

    Attributes:
        done: What happened: a class of findings.
        path: Without the names of items: containers are called after their agents.
    """

    done: DriftClass
    kind: str
    path: str
    user: str
    manager: str

    def words(self, objects: int) -> str:
        """Who did what, to how many objects."""
        who = " through ".join(part for part in (self.user, self.manager) if part)
        where = f" {self.path}" if self.path else ""
        noun = "object" if objects == 1 else "objects"
        return f"{self.done}{where} in {objects} {noun} of kind {self.kind} by {who}"


def source_of(finding: Finding) -> ChangeSource | None:
    """The source that a finding shows; None where nobody is known, and for a remark."""
    if not finding.actors or not finding.counts:
        return None
    actor, kind = finding.actors[0], finding.ref.kind
    return ChangeSource(finding.drift_class, kind, _shape(finding.path), actor.user, actor.manager)


def causes_of(report: DriftReport, baseline: Objects | None, live: Objects) -> tuple[Cause, ...]:
    """What explains several findings, the largest first.

    Args:
        report: Of a scan.
        baseline: Objects as they were after the last good update; None without one.
        live: Objects of the cluster.
    """
    waiting: list[Finding] = []
    others: list[Finding] = []
    for each in report.drift:
        (waiting if _is_not_deployed(each, baseline, live) else others).append(each)
    causes = list(_same_source(others))
    if waiting:
        objects = len({each.ref for each in waiting})
        summary = f"{_NOT_DEPLOYED}: {len(waiting)} findings in {objects} objects"
        causes.append(Cause(summary, tuple(waiting), "run `pulumi up`, or take the change back"))
    return tuple(sorted(causes, key=lambda cause: -len(cause.findings)))


def _is_not_deployed(finding: Finding, baseline: Objects | None, live: Objects) -> bool:
    """Whether the cluster still is as the last update left it, and the declaration has moved."""
    if baseline is None:
        return False
    if finding.next_update is NextUpdate.DELETES:
        return True
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


def _same_source(findings: Sequence[Finding]) -> Iterator[Cause]:
    """The same change of the same field by the same source, in several objects."""
    groups: dict[ChangeSource, list[Finding]] = {}
    for finding in findings:
        source = source_of(finding)
        if source is not None:
            groups.setdefault(source, []).append(finding)
    for source, found in groups.items():
        objects = len({each.ref for each in found})
        if objects >= FEWEST_OBJECTS:
            yield Cause(source.words(objects), tuple(found))


def _shape(path: Path) -> str:
    """A path without the names of items: containers are called after their agents."""
    return format_path(tuple("*" if isinstance(each, ItemKey | int) else each for each in path))
