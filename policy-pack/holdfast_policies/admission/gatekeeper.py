"""The rules as constraints of Gatekeeper, 3.18 or newer, in CEL and not in Rego.

A ConstraintTemplate holds the rules of a group, its constraint the parameters and waivers.
Source: open-policy-agent.github.io/gatekeeper, "Integration with Kubernetes Validating Admission
Policy".
"""

from collections.abc import Iterable
from typing import Any

from holdfast_policies.admission.literals import namespaces_of
from holdfast_policies.admission.parameters import Scope, in_cluster, waiver_entries
from holdfast_policies.admission.policy import Given, cluster_policy
from holdfast_policies.admission.resources import kind_matches
from holdfast_policies.admission.validating import (
    Group,
    Mode,
    expressions,
    groups_of,
    marks_of,
    name_of,
    validation_of,
)
from holdfast_policies.evaluation.profile import Profile
from holdfast_policies.evaluation.waivers import Waiver
from holdfast_policies.model.cel import listed

_ACTIONS = {"Deny": "deny", "Warn": "warn", "Audit": "dryrun"}
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def gatekeeper_constraints(
    profile: Profile, scope: Scope, waivers: Iterable[Waiver] = (), mode: Mode = Mode.ENFORCE
) -> list[dict[str, Any]]:
    """The templates of all groups of rules, then a constraint of each."""
    groups, granted = groups_of(in_cluster(profile), mode), tuple(waivers)
    templates = [_template(group, scope) for group in groups]
    return [*templates, *(_constraint(group, scope, granted) for group in groups)]


def _kind(group: Group, scope: Scope) -> str:
    return "".join(part.capitalize() for part in name_of(group, scope).split("-"))


def _template(group: Group, scope: Scope) -> dict[str, Any]:
    given = Given(
        settings="variables.params.rules",
        waivers="variables.params.waivers",
        controllers=listed(sorted(scope.controllers)),
        namespaces=namespaces_of(scope),
        provided=("params",),
    )
    policy = cluster_policy(group.rulings, given)
    source = {
        "failurePolicy": "Fail",
        "matchCondition": expressions(policy.conditions),
        "variables": expressions(policy.variables),
        "validations": [
            {name: text for name, text in validation_of(policy).items() if name != "reason"}
        ],
    }
    properties = {"rules": _ANYTHING, "waivers": {"type": "array", "items": _ANYTHING}}
    schema = {"type": "object", "properties": properties}
    names = {"kind": _kind(group, scope)}
    return {
        "apiVersion": "templates.gatekeeper.sh/v1",
        "kind": "ConstraintTemplate",
        "metadata": {"name": _kind(group, scope).lower(), "annotations": marks_of(group)},
        "spec": {
            "crd": {"spec": {"names": names, "validation": {"openAPIV3Schema": schema}}},
            "targets": [
                {
                    "target": "admission.k8s.gatekeeper.sh",
                    "code": [{"engine": "K8sNativeValidation", "source": source}],
                }
            ],
        },
    }


def _constraint(group: Group, scope: Scope, waivers: tuple[Waiver, ...]) -> dict[str, Any]:
    kinds = frozenset().union(*(ruling.rule.kinds for ruling in group.rulings))
    settings = {each.rule.id: dict(each.settings) for each in group.rulings if each.settings}
    return {
        "apiVersion": "constraints.gatekeeper.sh/v1beta1",
        "kind": _kind(group, scope),
        "metadata": {"name": name_of(group, scope), "annotations": marks_of(group)},
        "spec": {
            "enforcementAction": _ACTIONS[group.actions[0]],
            "match": {
                "kinds": kind_matches(kinds),
                "namespaceSelector": scope.namespace_selector,
            },
            "parameters": {"rules": settings, "waivers": waiver_entries(waivers)},
        },
    }
