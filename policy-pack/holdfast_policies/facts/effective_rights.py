"""What a ServiceAccount may do in sum: over its bindings, their roles, and what those aggregate."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast_policies.decode.unknown import UndeterminedError
from holdfast_policies.facts.selectors import selects
from holdfast_policies.model.finding import Undecided
from holdfast_policies.model.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING
from holdfast_policies.model.stack import Stack
from holdfast_policies.model.subject import Subject, items, mapping, text

_ACCOUNT, _ACCOUNTS = "system:serviceaccount:", "system:serviceaccounts:"
_ALL = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
_EDIT = {
    "apiGroups": ["", "apps", "batch", "autoscaling", "policy", "networking.k8s.io"],
    "resources": ["*"],
    "verbs": ["get", "list", "watch", "create", "update", "patch", "delete", "impersonate"],
}
_VIEW: Mapping[str, Any] = {
    "apiGroups": ["apps", "batch", "autoscaling", "policy", "networking.k8s.io"],
    "resources": ["*"],
    "verbs": ["get", "list", "watch"],
}
BUILT_IN: Mapping[str, list[Any]] = {
    "cluster-admin": [_ALL],
    "admin": [_EDIT],
    "edit": [_EDIT],
    "view": [_VIEW],
}
"""User-facing roles that every cluster has, by the rights that matter here.

Source: kubernetes.io, "Using RBAC Authorization", user-facing roles.
"""


@dataclass(eq=False)
class Account:
    """One ServiceAccount and what the stack binds it to.

    Attributes:
        name: `namespace/name`.
        rules: Rules of all of its roles.
        cluster_rules: Those among them that hold in every namespace.
        cluster_roles: Names of the roles behind those.
        bindings: What binds it, in the order of the stack; at least one.
        unresolved: Bindings to roles that the stack does not hold: they cannot be judged.
    """

    name: str
    rules: list[Any] = field(default_factory=list)
    cluster_rules: list[Any] = field(default_factory=list)
    cluster_roles: list[str] = field(default_factory=list)
    bindings: list[Subject] = field(default_factory=list)
    unresolved: list[Undecided] = field(default_factory=list)


def accounts_of(stack: Stack) -> list[Account]:
    """Every ServiceAccount that a binding of the stack names, by name."""
    accounts: dict[str, Account] = {}
    for binding in (*stack.of_kind(ROLE_BINDING), *stack.of_kind(CLUSTER_ROLE_BINDING)):
        try:
            for name in _subjects(binding):
                _add(accounts.setdefault(name, Account(name)), binding, stack)
        except UndeterminedError as signal:
            unknown = accounts.setdefault("", Account("", bindings=[binding]))
            unknown.unresolved.append(Undecided(signal.path, binding))
    return [accounts[name] for name in sorted(accounts)]


def _subjects(binding: Subject) -> Iterator[str]:
    for subject in items(binding.object.get("subjects")):
        declared = mapping(subject)
        name = text(declared.get("name"))
        if declared.get("kind") == "ServiceAccount":
            namespace = text(declared.get("namespace")) or binding.namespace
            yield f"{namespace}/{name}"
        elif name.startswith(_ACCOUNT):  # the same, written as a user
            yield name.removeprefix(_ACCOUNT).replace(":", "/", 1)
        elif name.startswith(_ACCOUNTS):
            yield f"{name.removeprefix(_ACCOUNTS)}/*"
        elif name and not name.startswith("system:"):
            yield f"{text(declared.get('kind'))} {name}"


def _add(account: Account, binding: Subject, stack: Stack) -> None:
    account.bindings.append(binding)
    role = mapping(binding.object.get("roleRef"))
    rules = _rules_of(stack, role, binding.namespace)
    if rules is None:
        account.unresolved.append(Undecided("roleRef", binding))
        return
    account.rules.extend(rules)
    if binding.kind == CLUSTER_ROLE_BINDING:
        account.cluster_rules.extend(rules)
        account.cluster_roles.append(text(role.get("name")))


def _rules_of(stack: Stack, role: Mapping[str, Any], namespace: str) -> list[Any] | None:
    """Rules of a role with those it aggregates; None when the stack does not hold it."""
    name = text(role.get("name"))
    if role.get("kind") == "Role":
        found = [
            each
            for each in stack.of_kind(ROLE)
            if each.name == name and each.namespace == namespace
        ]
        return items(found[0].object.get("rules")) if found else None
    for each in stack.of_kind(CLUSTER_ROLE):
        if each.name == name:
            return [*items(each.object.get("rules")), *_aggregated(stack, each)]
    return BUILT_IN.get(name)


def _aggregated(stack: Stack, role: Subject) -> Iterator[Any]:
    selectors = items(mapping(role.object.get("aggregationRule")).get("clusterRoleSelectors"))
    for other in stack.of_kind(CLUSTER_ROLE):
        labels = mapping(other.metadata.get("labels"))
        if any(selects(selector, labels) for selector in selectors):
            yield from items(other.object.get("rules"))
