"""Live objects that are not declared, where the declaration is responsible for them.

That is in a declared namespace, and wherever an object carries the stack's labels. What the cluster
makes itself, what provably belongs to another object and what a declared object refers to (Secrets,
claims, settings) is managed. Source: core/v1 PodSpec.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from holdfast.drift.looked_for import LOOKED_FOR, TOKEN_TYPE
from holdfast.drift.made_objects import MADE_KINDS
from holdfast.drift.owner_references import Owners
from holdfast.drift.reader_role import is_readers_own
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.kube.rbac import RBAC_GROUP

_NAMED_BY: Final = {
    "secretKeyRef": ("Secret", "name"),
    "secretRef": ("Secret", "name"),
    "configMapKeyRef": ("ConfigMap", "name"),
    "configMapRef": ("ConfigMap", "name"),
    "configMap": ("ConfigMap", "name"),
    "secret": ("Secret", "name"),
    "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"),
    "imagePullSecrets": ("Secret", "name"),
    "roleRef": ("Role", "name"),
}
_NAMES: Final = {"secretName": "Secret", "serviceAccountName": "ServiceAccount"}


def referenced(desired: Iterable[KubeObject]) -> set[tuple[str, str, str]]:
    """Kind, namespace and name of everything that declared objects refer to."""
    return {
        (kind, reference_of(one).namespace, name)
        for one in desired
        for kind, name in _names_in(one)
    }


def _names_in(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401  (any JSON value)
    if isinstance(value, list):
        for item in value:
            yield from _names_in(item)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _NAMES and isinstance(inner, str):
                yield _NAMES[key], inner
            elif key in _NAMED_BY:
                kind, field = _NAMED_BY[key]
                holders = inner if isinstance(inner, list) else [inner]
                for holder in holders:
                    if isinstance(holder, Mapping) and isinstance(holder.get(field), str):
                        yield kind, holder[field]
            yield from _names_in(inner)


_MANAGED_BY: Final = "app.kubernetes.io/managed-by"
_INSTANCE: Final = "app.kubernetes.io/instance"

_SYSTEM_OBJECTS: Final = frozenset(
    {
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
        ("ConfigMap", "istio-ca-root-cert"),
    }
)
_DEFAULT_ACCOUNT: Final = ("ServiceAccount", "default")
_WRITTEN_ON_DEFAULT_ACCOUNT: Final = frozenset({"openshift.io/internal-registry-pull-secret-ref"})
_API_SERVICE: Final = ("default", "kubernetes")
_SYSTEM_KINDS: Final = frozenset({"Event", "ControllerRevision", "Lease"})
_OF_ACCOUNT: Final = "kubernetes.io/service-account.name"
_REGISTRY_CREDENTIALS: Final = frozenset(
    {"kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson"}
)
"""Secrets that OpenShift makes for every account; they open its registry, not the API server."""
_BOOTSTRAP_BINDINGS: Final = frozenset(
    {
        "system:basic-user",
        "system:discovery",
        "system:public-info-viewer",
        "system:service-account-issuer-discovery",
    }
)
"""Cluster roles that the API server itself binds to all accounts, each in a binding of its name."""

OtherStacks = Callable[[str, Identity], bool]
"""Whether a stack of this name exists on the cluster, and declares the object."""


def declared_namespaces(desired: Iterable[KubeObject]) -> set[str]:
    """Namespaces that are declared themselves: what lives there is the declaration's business."""
    return {reference_of(one).name for one in desired if one.get("kind") == "Namespace"}


def stack_selector(stack: str) -> str:
    """Label selector of the objects of a stack."""
    return f"{_MANAGED_BY}=holdfast,{_INSTANCE}={stack}"


class UnmanagedFinder:
    """Finds the live objects that are not declared, and should be."""

    def __init__(
        self,
        desired: Sequence[KubeObject],
        stack: str = "",
        declares: OtherStacks | None = None,
    ) -> None:
        """Prepare to find them.

        Args:
            desired: Everything declared, each with its namespace.
            stack: Name in the labels of the stack's objects; empty where there is none.
            declares: What other stacks declare; None where no other stack is known.
        """
        self._desired = desired
        self._stack = stack
        self._declares = declares
        self._owned = declared_namespaces(desired)

    @cached_property
    def _meant(self) -> set[tuple[str, str, str]]:
        return referenced(self._desired)

    @cached_property
    def _claims(self) -> list[tuple[str, re.Pattern[str]]]:
        return list(_claim_names(self._desired))

    def among(
        self,
        live: Iterable[tuple[Identity, Mapping[str, Any]]],
        kinds: Collection[tuple[str, str]],
        owners: Owners,
    ) -> Iterator[tuple[Mapping[str, Any], bool]]:
        """The unmanaged ones among live objects, and those to compare with their owner's template.

        Args:
            live: Objects that are not declared, with their identities.
            kinds: Group and kind of what is declared or was asked for beside it.
            owners: What may own an object.

        Returns:
            Each with whether its owner has provably made it, from a template.
        """
        sought = LOOKED_FOR.keys() - {_SECRET} if owners.is_whole else ()
        wanted = {*kinds, *sought}
        for identity, found in live:
            is_sought = identity.group_kind in wanted or _is_token(found)
            if not is_sought or not self._is_our_business(identity, found):
                continue
            if identity.group_kind in MADE_KINDS and owners.account_for(found):
                yield found, True
            elif not _is_system(found, owners) and not self._is_referenced(*identity[1:]):
                yield found, False

    def _is_our_business(self, identity: Identity, found: Mapping[str, Any]) -> bool:
        labels = mapping_at(found, "metadata", "labels")
        stack = str(labels.get(_INSTANCE) or "") if labels.get(_MANAGED_BY) == "holdfast" else ""
        if self._stack and stack == self._stack:
            return True
        if identity.group_kind == _CLUSTER_BINDING:
            return self._reaches_accounts(found)
        if identity.namespace not in self._owned:
            return False
        # The label of another stack is a claim: it counts where that stack declares the object.
        is_others = stack and self._declares is not None and self._declares(stack, identity)
        return not is_others

    def _reaches_accounts(self, binding: Mapping[str, Any]) -> bool:
        """Whether a binding of the whole cluster gives rights to accounts of these namespaces."""
        everybody = {"system:serviceaccounts", "system:authenticated"}
        groups = {f"system:serviceaccounts:{namespace}" for namespace in self._owned}
        name = mapping_at(binding, "metadata").get("name")
        if name not in _BOOTSTRAP_BINDINGS or mapping_at(binding, "roleRef").get("name") != name:
            groups |= everybody
        users = tuple(f"system:serviceaccount:{namespace}:" for namespace in self._owned)
        subjects = binding.get("subjects")
        return bool(self._owned) and any(
            (subject.get("kind") == "ServiceAccount" and subject.get("namespace") in self._owned)
            or (subject.get("kind") == "Group" and subject.get("name") in groups)
            or (subject.get("kind") == "User" and str(subject.get("name")).startswith(users))
            for subject in (subjects if isinstance(subjects, list) else ())
            if isinstance(subject, Mapping)
        )

    def _is_referenced(self, kind: str, namespace: str, name: str) -> bool:
        """Whether a declared object refers to it, or a declared set has made it."""
        is_claim = kind == "PersistentVolumeClaim" and any(
            namespace == where and pattern.fullmatch(name) for where, pattern in self._claims
        )
        return is_claim or (kind, namespace, name) in self._meant


_SECRET: Final = ("", "Secret")
_CLUSTER_BINDING: Final = (RBAC_GROUP, "ClusterRoleBinding")


def _is_system(found: Mapping[str, Any], owners: Owners) -> bool:
    """Whether an object is made by the cluster itself, or belongs to another object."""
    metadata = mapping_at(found, "metadata")
    kind, name = str(found.get("kind")), str(metadata.get("name"))
    namespace = str(metadata.get("namespace") or "")
    if (kind, name) == _DEFAULT_ACCOUNT:
        # Clouds bind their own roles to an account by its annotations.
        return set(mapping_at(metadata, "annotations")) <= _WRITTEN_ON_DEFAULT_ACCOUNT
    if kind in _SYSTEM_KINDS or (kind, name) in _SYSTEM_OBJECTS or owners.account_for(found):
        return True
    if (namespace, name) == _API_SERVICE and kind in {"Service", "Endpoints", "EndpointSlice"}:
        return True
    if kind == "Endpoints":
        # They carry no owner: the controller gives them the name of their Service.
        return owners.has(ObjectRef(namespace, "Service", name, "v1"))
    if kind in {"Role", "RoleBinding"}:
        role = Identity(RBAC_GROUP, "Role", namespace, name)
        return is_readers_own(found, owners.live.get(role, {}))
    is_of_account = kind == "Secret" and _OF_ACCOUNT in mapping_at(metadata, "annotations")
    return is_of_account and found.get("type") in _REGISTRY_CREDENTIALS


def _is_token(found: Mapping[str, Any]) -> bool:
    """Whether it is a credential of an account that never ends; nothing makes these by itself."""
    return found.get("kind") == "Secret" and found.get("type") == TOKEN_TYPE


def _claim_names(desired: Iterable[KubeObject]) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Claims that StatefulSets make: they carry no owner, only a name of the set's making."""
    for one in desired:
        if one.get("kind") != "StatefulSet":
            continue
        ref = reference_of(one)
        templates = mapping_at(one, "spec").get("volumeClaimTemplates")
        for template in templates if isinstance(templates, list) else ():
            claim = re.escape(str(mapping_at(template, "metadata").get("name")))
            yield ref.namespace, re.compile(rf"{claim}-{re.escape(ref.name)}-\d+")
