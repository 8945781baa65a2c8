"""The rights that a scan needs, as objects: reading exactly the kinds in use, no Secrets. Pure.

A Secret is granted by its name alone, and only to who asks for that.

Source: Kubernetes documentation, "Using RBAC Authorization".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from holdfast.kube.objects import KubeObject, api_group, mapping_at
from holdfast.kube.rbac import policy_rule, role_and_binding, service_account_subject, user_subject

VERBS: Final = ("get", "list", "watch")
_LABELS: Final = {
    # Of no stack: see `is_readers_own`.
    "app.kubernetes.io/managed-by": "holdfast",
    "app.kubernetes.io/instance": "holdfast-drift",
}
_NEVER_READ: Final = frozenset({("", "secrets")})


@dataclass(frozen=True, order=True)
class ReadKind:
    """A kind that a scan reads.

    Attributes:
        api_version: Such as `apps/v1`.
        plural: Name in URLs, such as `deployments`, or `services/proxy`.
        namespace: Where it is read; empty for kinds that exist once a cluster.
        names: Of the objects that are read; empty for all.
    """

    api_version: str
    plural: str
    namespace: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reader:
    """Who is to scan.

    Attributes:
        name: Name of the roles and bindings.
        user: Name of a user; empty for a service account.
        service_account: Namespace and name; declared along with the roles.
    """

    name: str
    user: str = ""
    service_account: tuple[str, str] = ("", "")

    @property
    def subject(self) -> KubeObject:
        """As a binding names it."""
        if self.user:
            return user_subject(self.user)
        return service_account_subject(*self.service_account)


def reader_objects(kinds: Iterable[ReadKind], reader: Reader) -> list[KubeObject]:
    """A role in each namespace of the kinds and one of the cluster, each bound to one reader.

    Law: every rule names its resources and grants reading alone; a rule grants Secrets by name or
    not at all.

    Args:
        kinds: What is read; without namespaces, the reader may read them in the whole cluster.
        reader: Who is to scan.
    """
    places: dict[str, list[ReadKind]] = {}
    for kind in kinds:
        if kind.names or (api_group(kind.api_version), kind.plural) not in _NEVER_READ:
            places.setdefault(kind.namespace, []).append(kind)
    objects: list[KubeObject] = []
    if not reader.user:
        namespace, name = reader.service_account
        metadata = _metadata(name, namespace)
        objects.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    for namespace in sorted(places):
        metadata = _metadata(reader.name, namespace)
        objects += role_and_binding(metadata, _rules(places[namespace]), reader.subject)
    return objects


_PROXY: Final = "services/proxy"


def is_readers_own(found: Mapping[str, Any], role: Mapping[str, Any]) -> bool:
    """Whether a role, or its binding, is one that `reader_objects` makes in a namespace.

    The labels are a claim: what proves it is that the role grants reading alone, and no Secrets.

    Args:
        found: A live Role or RoleBinding.
        role: The live Role of the same name and namespace; empty where there is none.
    """
    labels = mapping_at(found, "metadata", "labels")
    if any(labels.get(key) != value for key, value in _LABELS.items()):
        return False
    if found.get("kind") == "RoleBinding":
        bound = mapping_at(found, "roleRef")
        name = mapping_at(found, "metadata").get("name")
        if (bound.get("kind"), bound.get("name")) != ("Role", name):
            return False
    rules = role.get("rules")
    return isinstance(rules, list) and all(_only_reads(rule) for rule in rules)


def _only_reads(rule: Any) -> bool:  # noqa: ANN401  (any JSON value)
    if not isinstance(rule, Mapping) or rule.get("nonResourceURLs"):
        return False
    resources = {str(each) for each in rule.get("resources") or ()}
    is_below = any("/" in each for each in resources - {_PROXY})
    reads_secrets = "secrets" in resources and not rule.get("resourceNames")
    verbs = {str(each) for each in rule.get("verbs") or ()}
    return not ("*" in resources or is_below or reads_secrets) and verbs <= set(VERBS)


def _rules(kinds: Sequence[ReadKind]) -> list[KubeObject]:
    granted: dict[tuple[str, tuple[str, ...], tuple[str, ...]], set[str]] = {}
    for kind in kinds:
        # What lies below an object, such as `services/proxy`, is got and never listed; and so is
        # what is named.
        verbs = ("get",) if "/" in kind.plural or kind.names else VERBS
        key = (api_group(kind.api_version), verbs, kind.names)
        granted.setdefault(key, set()).add(kind.plural)
    return [
        policy_rule(group, sorted(granted[group, verbs, names]), verbs, sorted(names))
        for group, verbs, names in sorted(granted)
    ]


def _metadata(name: str, namespace: str) -> KubeObject:
    scope = {"namespace": namespace} if namespace else {}
    return {"name": name, "labels": dict(_LABELS), **scope}
