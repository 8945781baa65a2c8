"""Whether an owner reference proves that an object belongs to another one.

A client can write any owner reference. It counts only where the owner is the controller, is there
under the uid that is named, and is of a kind that makes such objects.

Source: the controllers of Kubernetes 1.36; API conventions, "Owner references".
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.drift.finding import Objects
from holdfast.kube.objects import Identity, api_group, mapping_at
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
    ("", "Node"): frozenset({"Pod", "Lease"}),
}
"""Built-in kind to the kinds that its controller makes; every other built-in kind makes nothing."""
_OWNED_WITHOUT_CONTROLLER: Final = frozenset({("StatefulSet", "PersistentVolumeClaim")})
"""Owner and kind where the controller writes a plain reference, for garbage collection alone."""

_SLICE_LABEL: Final = "endpointslice.kubernetes.io/managed-by"
_SLICE_CONTROLLER: Final = "endpointslice-controller.k8s.io"


@dataclass(frozen=True)
class Owners:
    """What may own an object.

    Attributes:
        live: Objects that were read, by identity.
        declared: Identities of what is declared: it was judged by itself, and may have been let go.
        is_whole: Whether `live` is everything there is: what is not in it does not exist.
    """

    live: Objects
    declared: Collection[Identity]
    is_whole: bool = False

    def account_for(self, found: Mapping[str, Any]) -> bool:
        """Whether the object belongs to one that exists, which is itself judged."""
        references = mapping_at(found, "metadata").get("ownerReferences")
        return isinstance(references, list) and any(
            isinstance(reference, Mapping) and self._proves(reference, found)
            for reference in references
        )

    def has(self, identity: Identity) -> bool:
        """Whether an object is there, as far as that is known."""
        return identity in self.live or identity in self.declared

    def _proves(self, reference: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
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
        identity = Identity(group, kind, namespace, str(reference.get("name")))
        labels = mapping_at(found, "metadata", "labels")
        if made == "EndpointSlice" and labels.get(_SLICE_LABEL) == _SLICE_CONTROLLER:
            # Under its own label this controller takes away whatever it has not made itself.
            return self.has(identity) or not self.is_whole
        return self._exists(identity, reference)

    def _exists(self, identity: Identity, reference: Mapping[str, Any]) -> bool:
        owner = self.live.get(identity)
        if owner is None:
            # A declared one in sync was let go after it was judged; what was not read may exist.
            return not self.is_whole or identity in self.declared
        uid = mapping_at(owner, "metadata").get("uid")
        return not uid or uid == reference.get("uid")
