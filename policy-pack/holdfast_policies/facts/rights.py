"""Rights that a role may grant, and whether one of its rules grants them.

Source: k8s.io/kubernetes/pkg/apis/rbac/v1/evaluation_helpers.go.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast_policies.model.cel import listed, quoted
from holdfast_policies.model.subject import items, mapping, text

EVERYTHING = ("*",)
WRITING = ("create", "update", "patch", "delete", "deletecollection")


@dataclass(frozen=True, slots=True)
class Right:
    """One right that matters.

    Attributes:
        title: What it is good for, in words.
        group: API group; empty for core.
        resources: Resources with their subresource, any of which will do; `*` for all.
        verbs: Verbs, any of which will do.
    """

    title: str
    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]


def grants(rule: object, right: Right, *, any_group: bool = False) -> bool:
    """Whether one rule of a role grants a right, wildcards included.

    Args:
        rule: The rule.
        right: The right; its group does not matter with `any_group`.
        any_group: Take a right in any group for it.
    """
    declared: Mapping[str, Any] = mapping(rule)
    verbs = {text(verb) for verb in items(declared.get("verbs"))}
    groups = {text(group) for group in items(declared.get("apiGroups"))}
    resources = [text(resource) for resource in items(declared.get("resources"))]
    return (
        not verbs.isdisjoint(("*", *right.verbs))
        and (any_group or not groups.isdisjoint(("*", right.group)))
        and any(_covers(given, wanted) for given in resources for wanted in right.resources)
    )


def _covers(given: str, wanted: str) -> bool:
    """Whether a resource of a rule takes in a resource; `*/scale` takes in that of every one."""
    if "*" in (given, wanted) or given == wanted:
        return True
    subresource = wanted.partition("/")[2]
    return bool(subresource) and given == f"*/{subresource}"


_COVERS = 'd == "*" || w == "*" || d == w || (w.contains("/") && d == "*/" + w.split("/")[1])'
GRANTED = (
    'r.?verbs.orValue([]).exists(v, v == "*" || v in g.verbs)'
    ' && r.?apiGroups.orValue([]).exists(a, a == "*" || a == g.group)'
    f" && r.?resources.orValue([]).exists(d, g.resources.exists(w, {_COVERS}))"
)
"""CEL: whether the rule `r` of a role grants the right `g`, wildcards included."""


def rights_in_cel(rights: Iterable[Right]) -> str:
    """A list of rights as CEL writes it."""
    written = (
        f'{{"title": dyn({quoted(right.title)}), "group": dyn({quoted(right.group)}),'
        f' "resources": dyn({listed(right.resources)}), "verbs": dyn({listed(right.verbs)})}}'
        for right in rights
    )
    return f"[{', '.join(written)}]"
