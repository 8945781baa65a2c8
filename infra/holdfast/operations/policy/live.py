"""What a cluster runs, whoever deployed it, as objects to judge.

What a controller makes of an object that is judged itself is left out, as is what Kubernetes makes
for its own sake; both are counted.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet
from holdfast_policies.model.kinds import ANY_KIND, POD_KINDS
from holdfast_policies.model.subject import Subject

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.inventory import read_inventory
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.drift.finding import NotChecked
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.manifest.types.marks import agent_of
from holdfast.operations.policy.evaluate import Judged
from holdfast.operations.policy.sources import PolicyInput

OWN_NAMESPACES: Final = frozenset({"kube-system", "kube-public", "kube-node-lease"})
"""Where Kubernetes runs itself: evaluated when it is named."""

_OWN_LABEL: Final = "kubernetes.io/bootstrapping"
_OWN_OBJECTS: Final = frozenset(
    {
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
        ("ConfigMap", "istio-ca-root-cert"),
        ("ServiceAccount", "default"),
        ("Service", "kubernetes"),
        ("Namespace", "default"),
    }
)
_BINDING: Final = "ClusterRoleBinding"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True)
class LiveRequest:
    """Which cluster, and where in it.

    Attributes:
        namespaces: Where to look; that of the context when empty.
        is_everywhere: Look everywhere but in Kubernetes' own namespaces.
    """

    kubeconfig: Path | None
    context: str | None
    namespaces: tuple[str, ...] = ()
    is_everywhere: bool = False


def wanted_kinds(known: RuleSet = SHIPPED_RULES) -> set[tuple[str, str]]:
    """Group and kind of everything that some rule judges."""
    kinds = POD_KINDS.union(*(rule.kinds for rule in known.rules)) - {ANY_KIND}
    return {(kind.group, kind.name) for kind in kinds}


def live_objects(request: LiveRequest, known: RuleSet = SHIPPED_RULES) -> PolicyInput:
    """Everything in a cluster that some rule judges.

    Raises:
        ClusterError: the cluster cannot be asked at all.
    """
    client = ApiClient(connection_of(request.kubeconfig, request.context))
    namespaces = request.namespaces or (client.connection.namespace,)
    places = () if request.is_everywhere else namespaces
    found = read_inventory(client, wanted_kinds(known), places)
    gathered = collect(found.objects, places)
    not_checked = tuple(NotChecked(scope, reason) for scope, reason in found.unread)
    return PolicyInput(gathered.judged, not_checked, gathered.remarks)


def collect(objects: Collection[KubeObject], namespaces: Collection[str] = ()) -> PolicyInput:
    """Which of the live objects are judged, and which are only known.

    Args:
        objects: Everything that was read.
        namespaces: Where to look; everywhere but in Kubernetes' own when empty.
    """
    owners = {mapping_at(one, "metadata").get("uid") for one in objects} - {None}
    roles = _bound_roles(objects, namespaces)
    judged: list[Judged] = []
    owned = own = 0
    for one in objects:
        is_meant = _is_meant(one, namespaces, roles)
        if is_meant and _is_owned(one, owners):
            owned += 1
        elif is_meant and not _is_own(one):
            judged.append(Judged(Subject.of(_shown(one)), agent_of(one)))
        else:
            own += is_meant
            # What a role allows, or an admission policy refuses, counts for the stack as a whole.
            if not reference_of(one).namespace and one["kind"] not in {"Namespace", _BINDING}:
                judged.append(Judged(Subject.of(_shown(one)), context_only=True))
    counted = (
        (owned, "made by objects that are judged themselves"),
        (own, "of Kubernetes' own"),
    )
    return PolicyInput(
        tuple(judged),
        remarks=tuple(f"left out: {count} objects {what}" for count, what in counted if count),
    )


def _bound_roles(objects: Iterable[KubeObject], namespaces: Collection[str]) -> set[str]:
    """Names of the ClusterRoles that accounts of the namespaces are bound to."""
    bindings = (one for one in objects if one["kind"] in {_BINDING, "RoleBinding"})
    return {
        str(mapping_at(one, "roleRef").get("name"))
        for one in bindings
        if reference_of(one).namespace in namespaces or _binds(one, namespaces)
    }


def _is_meant(one: KubeObject, namespaces: Collection[str], roles: Collection[str]) -> bool:
    ref = reference_of(one)
    place = ref.name if ref.kind == "Namespace" else ref.namespace
    if not namespaces:
        return place not in OWN_NAMESPACES
    if place:
        return place in namespaces
    if ref.kind == _BINDING:
        return _binds(one, namespaces)
    return ref.kind == "ClusterRole" and ref.name in roles


def _binds(binding: KubeObject, namespaces: Collection[str]) -> bool:
    """Whether a binding grants something to an account of the namespaces."""
    subjects = binding.get("subjects")
    return any(
        isinstance(each, dict) and each.get("namespace") in namespaces for each in subjects or ()
    )


def _is_owned(one: KubeObject, owners: Collection[Any]) -> bool:
    references: Iterable[Any] = mapping_at(one, "metadata").get("ownerReferences") or ()
    return any(isinstance(each, dict) and each.get("uid") in owners for each in references)


def _is_own(one: KubeObject) -> bool:
    """Whether Kubernetes makes it for itself."""
    ref = reference_of(one)
    is_own = _OWN_LABEL in mapping_at(one, "metadata", "labels")
    return is_own or (ref.kind, ref.name) in _OWN_OBJECTS


def _shown(one: Mapping[str, Any]) -> dict[str, Any]:
    """The object without what others keep about it: it is judged once, by what it is."""
    metadata = dict(mapping_at(one, "metadata"))
    metadata.pop("managedFields", None)
    annotations = mapping_at(metadata, "annotations")
    if _LAST_APPLIED in annotations:
        metadata["annotations"] = {
            key: value for key, value in annotations.items() if key != _LAST_APPLIED
        }
    return {**one, "metadata": metadata}
