"""Pods, ReplicaSets and Jobs that a controller made: whether they are as its template says. Pure.

An owner reference says which template an object was made from, and not that it was: a client can
write the reference, patch the image of a running pod, or attach a container to it. Source: the
controllers of Kubernetes 1.36; "Updating ReplicaSets", "ControllerRevisions".
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from holdfast.drift.context import DriftContext
from holdfast.drift.finding import Finding, Objects
from holdfast.drift.object_drift import field_findings
from holdfast.kube.managed_fields import read_managed_fields
from holdfast.kube.objects import (
    Identity,
    KubeObject,
    ObjectRef,
    api_group,
    mapping_at,
    reference_of,
)
from holdfast.kube.paths import ABSENT, ItemKey, Path, format_path, value_at

MADE_KINDS: Final = frozenset({("", "Pod"), ("apps", "ReplicaSet"), ("batch", "Job")})
"""Group and kind of what is compared with the template it was made from."""

_TEMPLATE: Final = ("spec", "template")
_TEMPLATE_OF: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("", "ReplicationController"): _TEMPLATE,
    ("apps", "DaemonSet"): _TEMPLATE,
    ("apps", "Deployment"): _TEMPLATE,
    ("apps", "ReplicaSet"): _TEMPLATE,
    ("apps", "StatefulSet"): _TEMPLATE,
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("batch", "Job"): _TEMPLATE,
}
"""Where an owner keeps the template of pods; of other owners nothing can be said."""
_SELECTED_BY_KEYS: Final = re.compile(
    r"^spec\.(topologySpreadConstraints|affinity\.pod\w+)\b.*\.labelSelector\.matchExpressions(\[|$)"
)
_WITH_ONE_TEMPLATE: Final = frozenset({"ReplicaSet", "Job", "ReplicationController"})
"""Owners whose template never changes: a pod of theirs has no older one."""
_REVISION: Final = "deployment.kubernetes.io/revision"
_HASH: Final = "pod-template-hash"
_TOLERATED: Final = re.compile(r"node\.kubernetes\.io/(not-ready|unreachable|memory-pressure)")
_LIMIT_RANGER: Final = "kubernetes.io/limit-ranger"
"""What a LimitRange gave a pod when it was created; later only a resize changes resources, which
has another owner."""
_MAKERS: Final = frozenset({"kube-controller-manager", "rollouts-controller"})
"""Field managers of these controllers; the second labels the pods of a canary."""

FindObject = Callable[[ObjectRef], KubeObject | None]
"""Read one live object; None where there is none, or it cannot be read."""


@dataclass(frozen=True)
class Makers:
    """The owners of what controllers made.

    Attributes:
        live: Objects that were read, by identity.
        declared: What is declared; what is in sync may not be among `live`.
        find: Reads an owner as it is now; None where nothing can be asked.
    """

    live: Objects
    declared: Mapping[Identity, tuple[ObjectRef, KubeObject]]
    find: FindObject | None = None

    def of(self, found: Mapping[str, Any]) -> ObjectRef | None:
        """The controller of an object; None where it names none whose template is known."""
        metadata = mapping_at(found, "metadata")
        references = metadata.get("ownerReferences")
        for reference in references if isinstance(references, list) else ():
            if isinstance(reference, Mapping) and reference.get("controller") is True:
                api_version, kind = str(reference.get("apiVersion")), str(reference.get("kind"))
                if (api_group(api_version), kind) not in _TEMPLATE_OF:
                    return None
                namespace = str(metadata.get("namespace") or "")
                return ObjectRef(namespace, kind, str(reference.get("name")), api_version)
        return None

    def known(self, ref: ObjectRef) -> Mapping[str, Any] | None:
        """An owner as it was read; its declaration where it is in sync; None for neither."""
        found = self.live.get(ref.identity)
        if found is None and ref.identity in self.declared:
            return self.declared[ref.identity][1]
        return found

    def now(self, ref: ObjectRef) -> Mapping[str, Any] | None:
        """An owner as it is, read again where that is possible."""
        found = self.find(ref) if self.find is not None else None
        return found if found is not None else self.live.get(ref.identity)


def made_findings(found: Mapping[str, Any], makers: Makers, context: DriftContext) -> list[Finding]:
    """Where an object that a controller made is not as the template of its owner.

    Args:
        found: The object; its owner reference is proved.
        makers: The owners.
        context: Where the evidence is.
    """
    if not _can_be_judged(found):
        return []
    maker = makers.of(found)
    known = makers.known(maker) if maker is not None else None
    if maker is None or known is None or not _has_template(maker, known):
        return []
    if not (findings := _compared(found, maker, known, context)):
        return []
    if maker.kind in _WITH_ONE_TEMPLATE:
        return findings
    now = makers.now(maker)
    if now is None or not _is_observed(now) or not _is_of_this_version(found, maker, now):
        # Made from an earlier template, or from one that cannot be read: what others wrote counts.
        return [each for each in findings if _is_of_others(each)]
    return _compared(found, maker, now, context)


def _can_be_judged(found: Mapping[str, Any]) -> bool:
    """Whether it was read as a whole and makes a difference: earlier versions have no replicas."""
    if "spec" not in found or mapping_at(found, "metadata").get("deletionTimestamp"):
        return False
    return found.get("kind") != "ReplicaSet" or mapping_at(found, "spec").get("replicas") != 0


def _compared(
    found: Mapping[str, Any], maker: ObjectRef, owner: Mapping[str, Any], context: DriftContext
) -> list[Finding]:
    ref = reference_of(found)
    expected = _expected(found, value_at(owner, _TEMPLATE_OF[maker.group, maker.kind]))
    findings = field_findings(ref, expected, found, context, is_made=True)
    return [
        replace(each, next_update=None)
        for each in findings
        if _is_of_template(ref, each.path)
        and not _is_makers_own(each, maker, owner)
        and not _is_default_of_pods(each, found)
        and not _is_of_label_keys(each, mapping_at(found, "metadata", "labels"))
    ]


def _expected(found: Mapping[str, Any], template: Any) -> KubeObject:  # noqa: ANN401  (any JSON)
    """The object as its template says; what no template says is taken from the object."""
    metadata, made_labels = (
        mapping_at(found, "metadata"),
        mapping_at(template, "metadata", "labels"),
    )
    place = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    head = {"apiVersion": found["apiVersion"], "kind": found["kind"]}
    if found["kind"] == "Pod":
        spec = mapping_at(template, "spec")
        return {**head, "metadata": {**place, "labels": {**made_labels}}, "spec": {**spec}}
    live_labels = mapping_at(found, *_TEMPLATE, "metadata", "labels")
    hashes = {_HASH: live_labels[_HASH]} if _HASH in live_labels else {}
    labels = {**made_labels, **hashes}
    whole = {**template, "metadata": {**mapping_at(template, "metadata"), "labels": labels}}
    return {**head, "metadata": place, "spec": {**mapping_at(found, "spec"), "template": whole}}


def _is_of_template(ref: ObjectRef, path: Path) -> bool:
    """Whether a template decides about a field: not so annotations, which networks write."""
    if ref.kind == "Pod":
        return path[:1] == ("spec",) or path[:2] == ("metadata", "labels")
    return path[:2] == _TEMPLATE


def _is_makers_own(finding: Finding, maker: ObjectRef, owner: Mapping[str, Any]) -> bool:
    """Whether the controller of the owner writes this into what it makes of the template."""
    if finding.desired is not None or not _is_written_by_maker(finding):
        return False
    path, live, name = finding.path, finding.live, finding.ref.name
    text = format_path(path)
    claim = mapping_at(live, "persistentVolumeClaim").get("claimName")
    of_kind = {
        "DaemonSet": path[:2] in {("spec", "affinity"), ("spec", "tolerations")},
        "Job": (text == "spec.hostname" and str(live).startswith(maker.name))
        or text.endswith(".env[name=JOB_COMPLETION_INDEX]"),
        "StatefulSet": (text == "spec.hostname" and live == name)
        or (text == "spec.subdomain" and live == mapping_at(owner, "spec").get("serviceName"))
        or (path[:2] == ("spec", "volumes") and str(claim).endswith(f"-{name}")),
    }
    is_default = text == "spec.enableServiceLinks" and live is True
    return is_default or path[:2] == ("metadata", "labels") or of_kind.get(maker.kind, False)


def _is_default_of_pods(finding: Finding, found: Mapping[str, Any]) -> bool:
    """Whether the server filled in what it fills into pods and not into templates."""
    path = finding.path
    if finding.desired is not None or not _is_written_by_maker(finding):
        return False
    if path[-1:] == ("hostPort",):
        return bool(finding.live == value_at(found, (*path[:-1], "containerPort")))
    if path[:2] == ("spec", "tolerations"):
        # A template that declares others owns the list, and so what admission appends to it.
        return all(
            _TOLERATED.fullmatch(str(mapping_at(each).get("key"))) for each in _items(finding.live)
        )
    if "resources" not in path:
        return False
    at = path.index("resources") + 1
    return all(
        _is_default_resource(found, path[:at], *each)
        for each in _resources(path[at:], finding.live)
    )


def _resources(path: Path, live: Any) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401  (any JSON)
    """Each resource of a finding: `requests` or `limits`, its name, its quantity."""
    if isinstance(live, Mapping):
        for key, value in live.items():
            yield from _resources((*path, key), value)
    else:
        yield str(path[0]), ".".join(str(each) for each in path[1:]), str(live)


def _is_default_resource(
    found: Mapping[str, Any], at: Path, part: str, name: str, quantity: str
) -> bool:
    """Whether requests follow the limits, or admission has noted that a LimitRange gave them."""
    limits = value_at(found, (*at, "limits"))
    if part == "requests" and isinstance(limits, Mapping) and limits.get(name) == quantity:
        return True
    container = at[-2]
    if not isinstance(container, ItemKey):
        return False
    which = "init container" if at[1] == "initContainers" else "container"
    note = str(mapping_at(found, "metadata", "annotations").get(_LIMIT_RANGER) or "")
    noted = f" {part.removesuffix('s')} for {which} {dict(container.pairs)['name']}"
    return any(
        name in each.removesuffix(noted).split(", ")
        for each in note.removeprefix("LimitRanger plugin set: ").split("; ")
        if each.endswith(noted)
    )


def _is_of_label_keys(finding: Finding, labels: Mapping[str, Any]) -> bool:
    """Whether the server has written out `matchLabelKeys`, by the labels of the pod."""
    if finding.desired is not None or _SELECTED_BY_KEYS.search(format_path(finding.path)) is None:
        return False
    return all(
        isinstance(each, Mapping)
        and each.get("operator") in {"In", "NotIn"}
        and each.get("values") == [labels.get(str(each.get("key")))]
        for each in _items(finding.live)
    )


def _items(live: Any) -> list[Any]:  # noqa: ANN401  (any JSON)
    """What a finding about a list, or about one item of it, is about."""
    return live if isinstance(live, list) else [live]


def _is_written_by_maker(finding: Finding) -> bool:
    return all(actor.manager in _MAKERS for actor in finding.actors)


def _is_of_others(finding: Finding) -> bool:
    return any(actor.manager and actor.manager not in _MAKERS for actor in finding.actors)


def _is_observed(owner: Mapping[str, Any]) -> bool:
    """Whether the controller has seen the latest template; without status it may not have."""
    generation = mapping_at(owner, "metadata").get("generation")
    observed = mapping_at(owner, "status").get("observedGeneration")
    return observed is None or str(observed) == str(generation)


def _is_of_this_version(
    found: Mapping[str, Any], maker: ObjectRef, owner: Mapping[str, Any]
) -> bool:
    """Whether an object was made from the template that its owner has now."""
    if found.get("kind") == "ReplicaSet":
        return _revision(found) == _revision(owner)
    path = _TEMPLATE_OF[maker.group, maker.kind]
    times = [
        entry.time
        for entry in read_managed_fields(owner).of_object
        if mapping_at(entry.fields, *(f"f:{key}" for key in path))
    ]
    created = str(mapping_at(found, "metadata").get("creationTimestamp") or "")
    return bool(times and created) and created > max(times)


def _has_template(maker: ObjectRef, owner: Mapping[str, Any]) -> bool:
    template = value_at(owner, _TEMPLATE_OF[maker.group, maker.kind])
    return template is not ABSENT and bool(mapping_at(template, "spec"))


def _revision(one: Mapping[str, Any]) -> int:
    text = str(mapping_at(one, "metadata", "annotations").get(_REVISION) or "")
    return int(text) if text.isdecimal() else 0
