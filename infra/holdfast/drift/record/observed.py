"""What a scan saw, whole: the declaration with the live values of its findings. Pure."""

from collections.abc import Iterable, Iterator

from holdfast.drift.finding import FIELD_CLASSES, PROBES, DriftClass, ExpectedBy, Finding
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.kube.paths import ABSENT, with_value


def observed_objects(
    declared: Iterable[KubeObject], findings: Iterable[Finding]
) -> Iterator[KubeObject]:
    """The declared objects as they were found; what was missing is left out.

    Law: without findings it is the declaration.

    Args:
        declared: Objects as they were wanted, masked.
        findings: Of the scan, masked.
    """
    found: dict[Identity, list[Finding]] = {}
    for each in findings:
        found.setdefault(each.ref.identity, []).append(each)
    for one in declared:
        about = found.get(reference_of(one).identity, [])
        if any(each.drift_class is DriftClass.MISSING for each in about):
            continue
        seen = one
        for each in about:
            if _is_of_field(each):
                live = ABSENT if each.live is None else each.live
                seen = with_value(seen, each.path, live)
        yield seen


def _is_of_field(finding: Finding) -> bool:
    return (
        finding.drift_class in FIELD_CLASSES
        and bool(finding.path)
        and finding.path[0] != PROBES
        and finding.expected_by is not ExpectedBy.RECORD
    )
