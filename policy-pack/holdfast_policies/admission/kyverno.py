"""The rules as policies of Kyverno, 1.17 or newer.

They are ValidatingPolicies, which Kyverno evaluates as an API server does its own, and also runs
over what is there already. They take no parameters: these are written into them.
Source: kyverno.io, "ValidatingPolicy".
"""

from collections.abc import Iterable
from typing import Any

from holdfast_policies.admission.literals import written_out
from holdfast_policies.admission.parameters import Scope, in_cluster
from holdfast_policies.admission.policy import cluster_policy
from holdfast_policies.admission.resources import resource_rules
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

API_VERSION = "policies.kyverno.io/v1"


def kyverno_policies(
    profile: Profile, scope: Scope, waivers: Iterable[Waiver] = (), mode: Mode = Mode.ENFORCE
) -> list[dict[str, Any]]:
    """One ValidatingPolicy for each group of rules."""
    granted = tuple(waivers)
    return [_policy(group, scope, granted) for group in groups_of(in_cluster(profile), mode)]


def _policy(group: Group, scope: Scope, waivers: tuple[Waiver, ...]) -> dict[str, Any]:
    policy = cluster_policy(group.rulings, written_out(group.rulings, waivers, scope))
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingPolicy",
        "metadata": {"name": name_of(group, scope), "annotations": marks_of(group)},
        "spec": {
            "failurePolicy": "Fail",
            "validationActions": list(group.actions),
            "matchConstraints": {
                "resourceRules": resource_rules(policy.kinds),
                "namespaceSelector": scope.namespace_selector,
            },
            "matchConditions": expressions(policy.conditions),
            "variables": expressions(policy.variables),
            "validations": [validation_of(policy)],
            # Every kind that runs pods is judged by itself.
            "autogen": {"podControllers": {"controllers": []}},
        },
    }
