"""Live objects that are not declared, where the declaration is responsible for them.

That is in a declared namespace, and wherever an object carries the stack's labels. What the cluster
makes itself, what provably belongs to another object and what a declared object refers to (Secrets,
claims, settings) is managed. Source: core/v1 PodSpec.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from holdfast.drift.owner_references import Owners
from holdfast.kube.objects import Identity, KubeObject, mapping_at, reference_of

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
        ("ServiceAccount", "default"),
    }
)
_SYSTEM_KINDS: Final = frozenset({"Event", "ControllerRevision", "Lease"})
_OF_ACCOUNT: Final = "kubernetes.io/service-account.name"
_REGISTRY_CREDENTIALS: Final = frozenset(
    {"kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson"}
)
"""Secrets that OpenShift makes for every account; they open its registry, not the API server."""
_TOKEN_TYPE: Final = "kubernetes.io/service-account-token"  # noqa: S105  (a type, not a token)

LOOKED_FOR: Final = frozenset(
    {
        ("", "Pod"),
        ("", "ReplicationController"),
        ("", "Service"),
        ("", "Endpoints"),
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("apps", "DaemonSet"),
        ("apps", "ReplicaSet"),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("batch", "Job"),
        ("batch", "CronJob"),
        ("discovery.k8s.io", "EndpointSlice"),
        ("gateway.networking.k8s.io", "Gateway"),
        ("gateway.networking.k8s.io", "GRPCRoute"),
        ("gateway.networking.k8s.io", "HTTPRoute"),
        ("keda.sh", "ScaledJob"),
        ("keda.sh", "ScaledObject"),
        ("networking.k8s.io", "Ingress"),
        ("networking.k8s.io", "NetworkPolicy"),
        ("policy", "PodDisruptionBudget"),
        ("rbac.authorization.k8s.io", "Role"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
    }
)
"""Group and kind of what runs code, takes traffic, grants rights, scales, or stops a rollout."""


def declared_namespaces(desired: Iterable[KubeObject]) -> set[str]:
    """Namespaces that are declared themselves: what lives there is the declaration's business."""
    return {reference_of(one).name for one in desired if one.get("kind") == "Namespace"}


def stack_selector(stack: str) -> str:
    """Label selector of the objects of a stack."""
    return f"{_MANAGED_BY}=holdfast,{_INSTANCE}={stack}"


class UnmanagedFinder:
    """Tells the strangers among live objects."""

    def __init__(self, desired: Sequence[KubeObject], stack: str = "") -> None:
        """Prepare to tell them.

        Args:
            desired: Everything declared, each with its namespace.
            stack: Name in the labels of the stack's objects; empty where there is none.
        """
        self._desired = desired
        self._stack = stack
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
    ) -> Iterator[Mapping[str, Any]]:
        """The unmanaged ones among live objects.

        Args:
            live: Objects that are not declared, with their identities.
            kinds: Group and kind of what is declared or was asked for beside it.
            owners: What may own an object.
        """
        wanted = {*kinds, *LOOKED_FOR} if owners.is_whole else kinds
        for identity, found in live:
            if (
                (identity.group_kind in wanted or _is_token(found))
                and self._is_our_business(identity.namespace, found, is_alone=owners.is_whole)
                and not _is_system(found, owners)
                and not self._is_referenced(*identity[1:])
            ):
                yield found

    def _is_our_business(self, namespace: str, found: Mapping[str, Any], *, is_alone: bool) -> bool:
        labels = mapping_at(found, "metadata", "labels")
        owner = labels.get(_INSTANCE) if labels.get(_MANAGED_BY) == "holdfast" else None
        if self._stack and owner == self._stack:
            return True
        # A namespace may be shared with another stack, which judges its own objects; in files that
        # are compared with each other there is no other stack.
        is_others = (
            owner is not None and owner != self._stack and not (is_alone and not self._stack)
        )
        return namespace in self._owned and not is_others

    def _is_referenced(self, kind: str, namespace: str, name: str) -> bool:
        """Whether a declared object refers to it, or a declared set has made it."""
        is_claim = kind == "PersistentVolumeClaim" and any(
            namespace == where and pattern.fullmatch(name) for where, pattern in self._claims
        )
        return is_claim or (kind, namespace, name) in self._meant


def _is_system(found: Mapping[str, Any], owners: Owners) -> bool:
    """Whether an object is made by the cluster itself, or belongs to another object."""
    metadata = mapping_at(found, "metadata")
    kind, name = str(found.get("kind")), str(metadata.get("name"))
    if kind in _SYSTEM_KINDS or (kind, name) in _SYSTEM_OBJECTS or owners.account_for(found):
        return True
    if kind == "Endpoints":
        # They carry no owner: the controller gives them the name of their Service.
        namespace = str(metadata.get("namespace") or "")
        return owners.has(Identity("", "Service", namespace, name))
    is_of_account = kind == "Secret" and _OF_ACCOUNT in mapping_at(metadata, "annotations")
    return is_of_account and found.get("type") in _REGISTRY_CREDENTIALS


def _is_token(found: Mapping[str, Any]) -> bool:
    """Whether it is a credential of an account that never ends; nothing makes these by itself."""
    return found.get("kind") == "Secret" and found.get("type") == _TOKEN_TYPE


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
