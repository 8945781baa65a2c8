"""Whether an owner reference proves that an object belongs to another one.

A client can write any owner reference. It counts only where the owner is the controller, is there
under the uid that is named, is of a kind that makes such objects, and is itself accounted for: it
is declared, is of a kind that is looked for and is thus judged itself, or belongs to such a one.

Source: the controllers of Kubernetes 1.36; API conventions, "Owner references".
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.drift.finding import Objects
from holdfast.drift.looked_for import LOOKED_FOR
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, api_group, mapping_at
from holdfast.kube.structure import builtin_kind

_MADE_BY: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("apps", "Deployment"): frozenset({"ReplicaSet"}),
    ("apps", "ReplicaSet"): frozenset({"Pod"}),
    ("apps", "StatefulSet"): frozenset({"Pod", "ControllerRevision", "PersistentVolumeClaim"}),
    ("apps", "DaemonSet"): frozenset({"Pod", "ControllerRevision"}),
    ("batch", "CronJob"): frozenset({"Job"}),
    ("batch", "Job"): frozenset({"Pod"}),
    ("", "ReplicationController"): frozenset({"Pod"}),
    ("", "Service"): frozenset({"EndpointSlice"}),
    ("", "Endpoints"): frozenset({"EndpointSlice"}),
    ("", "Pod"): frozenset({"PersistentVolumeClaim", "ResourceClaim"}),
    ("", "Node"): frozenset({"Lease"}),
}
"""Built-in kind to the kinds that its controller makes; every other built-in kind makes nothing."""
_OWNED_WITHOUT_CONTROLLER: Final = frozenset({("StatefulSet", "PersistentVolumeClaim")})
"""Owner and kind where the controller writes a plain reference, for garbage collection alone."""

_MOST_GENERATIONS: Final = 8
"""Owners of owners that are followed; controllers nest three or four deep."""

_SLICE_LABEL: Final = "endpointslice.kubernetes.io/managed-by"
_SLICE_CONTROLLER: Final = "endpointslice-controller.k8s.io"


FindObject = Callable[[ObjectRef], KubeObject | None]
"""Read one live object; None where there is none, or it cannot be read."""


@dataclass(frozen=True)
class Owners:
    """What may own an object.

    Attributes:
        live: Objects that were read, by identity.
        declared: Identities of what is declared: it was judged by itself, and may have been let go.
        is_whole: Whether `live` is everything there is: what is not in it does not exist.
        find: Reads an owner that was not read, or came since; None where nothing can be asked.
    """

    live: Objects
    declared: Collection[Identity]
    is_whole: bool = False
    find: FindObject | None = None

    def account_for(self, found: Mapping[str, Any], generation: int = 0) -> bool:
        """Whether the object belongs to one that exists, which is itself judged."""
        references = mapping_at(found, "metadata").get("ownerReferences")
        return (
            generation < _MOST_GENERATIONS
            and isinstance(references, list)
            and any(
                isinstance(reference, Mapping) and self._proves(reference, found, generation)
                for reference in references
            )
        )

    def has(self, ref: ObjectRef) -> bool:
        """Whether an object is there; what cannot be asked for may be."""
        if ref.identity in self.live or ref.identity in self.declared:
            return True
        return not self.is_whole and (self.find is None or self.find(ref) is not None)

    def _proves(
        self, reference: Mapping[str, Any], found: Mapping[str, Any], generation: int
    ) -> bool:
        api_version, kind = str(reference.get("apiVersion")), str(reference.get("kind"))
        group, made = api_group(api_version), str(found.get("kind"))
        is_controller = reference.get("controller") is True
        if not is_controller and (kind, made) not in _OWNED_WITHOUT_CONTROLLER:
            return False
        entry = builtin_kind(api_version, kind)
        if entry is not None and made not in _MADE_BY.get((group, kind), ()):
            return False
        is_global = entry is not None and not entry.is_namespaced
        namespace = "" if is_global else str(mapping_at(found, "metadata").get("namespace") or "")
        ref = ObjectRef(namespace, kind, str(reference.get("name")), api_version)
        labels = mapping_at(found, "metadata", "labels")
        if made == "EndpointSlice" and labels.get(_SLICE_LABEL) == _SLICE_CONTROLLER:
            # Under its own label this controller takes away whatever it has not made itself.
            return self.has(ref)
        return self._accounts(ref, reference, generation)

    def _accounts(self, ref: ObjectRef, reference: Mapping[str, Any], generation: int) -> bool:
        owner = self.live.get(ref.identity)
        if owner is None and ref.identity in self.declared:
            return True  # in sync: it was let go after it was judged
        if owner is None and not self.is_whole:
            if self.find is None:
                return True  # what was not read may exist
            owner = self.find(ref)
        if owner is None:
            return False
        uid = mapping_at(owner, "metadata").get("uid")
        if uid and uid != reference.get("uid"):
            return False
        is_judged = ref.identity in self.declared or ref.identity.group_kind in LOOKED_FOR
        return is_judged or self.account_for(owner, generation + 1)
