"""The rules as ValidatingAdmissionPolicies: what the API server judges by without any add-on.

Source: kubernetes.io, "Validating Admission Policy"; admissionregistration.k8s.io/v1.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from holdfast_policies.admission.parameters import (
    GROUP,
    KIND,
    VERSION,
    Scope,
    definition,
    in_cluster,
    parameters_object,
)
from holdfast_policies.admission.policy import Given, cluster_policy
from holdfast_policies.admission.resources import resource_rules
from holdfast_policies.cel import quoted
from holdfast_policies.profile import Profile, Ruling
from holdfast_policies.rule import Level
from holdfast_policies.version import PACK_VERSION
from holdfast_policies.waivers import Waiver

API_VERSION = "admissionregistration.k8s.io/v1"
VERSION_ANNOTATION = "holdfast.dev/policy-version"


class Mode(StrEnum):
    """What the cluster makes of a violation of a mandatory rule."""

    ENFORCE = "enforce"
    WARN = "warn"
    AUDIT = "audit"


def bundle(
    profile: Profile, scope: Scope, waivers: Iterable[Waiver] = (), mode: Mode = Mode.ENFORCE
) -> list[dict[str, Any]]:
    """Everything that a cluster needs to judge by the rules of a profile, in order of creation.

    The kind of the parameters, the parameters of this stack, and for each rule that CEL can say
    and that is not disabled a policy and the binding that puts it in force.
    """
    rulings = in_cluster(profile)
    objects = [definition(), parameters_object(rulings, waivers, scope)]
    objects += [policy_object(each, scope) for each in rulings]
    objects += [binding_object(each, scope, mode) for each in rulings]
    return objects


def name_of(ruling: Ruling, scope: Scope) -> str:
    """Name of the policy of a rule, and of its binding."""
    return f"holdfast-{scope.stack}-{ruling.rule.id}"


def policy_object(ruling: Ruling, scope: Scope) -> dict[str, Any]:
    """ValidatingAdmissionPolicy of one rule."""
    policy = cluster_policy(ruling, given(ruling))
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {
            "name": name_of(ruling, scope),
            "annotations": {VERSION_ANNOTATION: PACK_VERSION},
        },
        "spec": {
            "failurePolicy": "Fail",
            "paramKind": {"apiVersion": f"{GROUP}/{VERSION}", "kind": KIND},
            "matchConstraints": {"resourceRules": resource_rules(ruling.rule.kinds)},
            "matchConditions": expressions(policy.conditions),
            "variables": expressions(policy.variables),
            "validations": [
                {
                    "expression": policy.expression,
                    "message": policy.message,
                    "messageExpression": policy.message_expression,
                    "reason": "Forbidden",
                }
            ],
            "auditAnnotations": [{"key": "waived", "valueExpression": policy.waived_expression}],
        },
    }


def binding_object(ruling: Ruling, scope: Scope, mode: Mode = Mode.ENFORCE) -> dict[str, Any]:
    """ValidatingAdmissionPolicyBinding of one rule; it is denied, warned of or only audited."""
    name = name_of(ruling, scope)
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name, "annotations": {VERSION_ANNOTATION: PACK_VERSION}},
        "spec": {
            "policyName": name,
            "validationActions": actions(ruling.level, mode),
            "paramRef": {
                "name": f"holdfast-{scope.stack}",
                "parameterNotFoundAction": "Deny",
            },
            "matchResources": {"namespaceSelector": scope.namespace_selector},
        },
    }


def actions(level: Level, mode: Mode) -> list[str]:
    """What follows from a violation: `Deny` and `Warn` cannot be combined, `Audit` goes with both.

    A rule that only warns at preview only warns here.
    """
    if mode is Mode.AUDIT:
        return ["Audit"]
    if mode is Mode.WARN or level is Level.ADVISORY:
        return ["Warn", "Audit"]
    return ["Deny", "Audit"]


def given(ruling: Ruling) -> Given:
    """What a policy reads of the parameters; compiled without their kind, which may come later."""
    return Given(
        settings=f"dyn(params).spec.rules[{quoted(ruling.rule.id)}]",
        waivers="dyn(params).spec.waivers",
        controllers="dyn(params).spec.controllers",
        namespaces="dyn(params).spec.namespaces",
    )


def expressions(named: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Conditions or variables as every engine writes them."""
    return [{"name": name, "expression": text} for name, text in named]
