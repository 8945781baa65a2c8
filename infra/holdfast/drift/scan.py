"""Everything declared against everything live: the whole report of one scan. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.drift.finding import DriftClass, DriftReport, Finding, NotChecked, Objects
from holdfast.drift.object_drift import Surroundings, object_findings, whole_object_finding
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of

STACK_LABEL: Final = "holdfast.dev/stack"
Identity = tuple[str, str, str, str]

_SYSTEM_OBJECTS: Final = frozenset(
    {
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
        ("ConfigMap", "istio-ca-root-cert"),
        ("ServiceAccount", "default"),
    }
)
_SYSTEM_KINDS: Final = frozenset(
    {"Event", "Endpoints", "EndpointSlice", "Pod", "ReplicaSet", "ControllerRevision", "Lease"}
)
_TOKEN_TYPE: Final = "kubernetes.io/service-account-token"  # noqa: S105  (a type, not a token)


@dataclass(frozen=True)
class LiveState:
    """What the cluster (or a file) holds, as far as it could be read.

    Attributes:
        objects: By identity; of the kinds that are declared also those that nobody declared.
        unread: Which declared objects could not be looked at, and why.
    """

    objects: Objects
    unread: Mapping[Identity, NotChecked] = field(default_factory=dict)
    not_checked: tuple[NotChecked, ...] = ()


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
    declared = {reference_of(one).identity for one in desired}
    for one in desired:
        ref = reference_of(one)
        if ref.identity in live.unread:
            unchecked.add(live.unread[ref.identity])
            continue
        checked += 1
        found = live.objects.get(ref.identity)
        if found is None:
            findings.append(whole_object_finding(ref, one, DriftClass.MISSING, around))
        else:
            findings += object_findings(one, found, around)
    for found in _unmanaged(desired, live.objects, declared, stack):
        ref = reference_of(found)
        findings.append(whole_object_finding(ref, found, DriftClass.UNMANAGED, around))
    findings.sort(key=lambda finding: finding.sort_key)
    return DriftReport(tuple(findings), tuple(sorted(unchecked)), checked)


def _unmanaged(
    desired: Sequence[KubeObject], live: Objects, declared: set[Identity], stack: str
) -> Iterator[Mapping[str, Any]]:
    """Live objects of declared kinds that nobody declared, where that is our business.

    That is in a namespace which is itself declared, and wherever an object carries our label.
    """
    owned = {reference_of(one).name for one in desired if one.get("kind") == "Namespace"}
    kinds = {reference_of(one).identity[:2] for one in desired}
    claims = _claims_of_stateful_sets(desired)
    for identity, found in live.items():
        group_kind, namespace, name = identity[:2], identity[2], identity[3]
        if identity in declared or group_kind not in kinds or _is_system(found):
            continue
        label = ((found.get("metadata") or {}).get("labels") or {}).get(STACK_LABEL)
        is_ours = (stack and label == stack) or (namespace in owned and label in {None, stack})
        if is_ours and not (identity[1] == "PersistentVolumeClaim" and claims(namespace, name)):
            yield found


def _is_system(found: Mapping[str, Any]) -> bool:
    """Whether an object is made by the cluster itself, or belongs to another object."""
    metadata = found.get("metadata") or {}
    kind, name = str(found.get("kind")), str(metadata.get("name"))
    if metadata.get("ownerReferences") or kind in _SYSTEM_KINDS:
        return True
    return (kind, name) in _SYSTEM_OBJECTS or found.get("type") == _TOKEN_TYPE


def _claims_of_stateful_sets(desired: Iterable[KubeObject]) -> Callable[[str, str], bool]:
    """Test for claims that a StatefulSet made: they carry no owner, only a name of its making."""
    patterns = set()
    for one in desired:
        if one.get("kind") == "StatefulSet":
            ref: ObjectRef = reference_of(one)
            for template in (one.get("spec") or {}).get("volumeClaimTemplates") or ():
                claim = re.escape(str((template.get("metadata") or {}).get("name")))
                patterns.add((ref.namespace, rf"{claim}-{re.escape(ref.name)}-\d+"))
    return lambda namespace, name: any(
        namespace == where and re.fullmatch(pattern, name) for where, pattern in patterns
    )
