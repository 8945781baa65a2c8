"""The rules as ValidatingAdmissionPolicies: what the API server judges by without any add-on.

Source: kubernetes.io, "Validating Admission Policy"; admissionregistration.k8s.io/v1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
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
from holdfast_policies.admission.policy import ClusterPolicy, Given, cluster_policy
from holdfast_policies.admission.resources import resource_rules
from holdfast_policies.evaluation.profile import Profile, Ruling
from holdfast_policies.evaluation.waivers import Waiver
from holdfast_policies.model.kinds import DEPLOYMENT, RBAC, STATEFUL_SET
from holdfast_policies.model.rule import Level, Rule
from holdfast_policies.version import PACK_VERSION

API_VERSION = "admissionregistration.k8s.io/v1"
VERSION_ANNOTATION = "holdfast.dev/policy-version"
RULES_ANNOTATION = "holdfast.dev/rules"
GIVEN = Given(
    settings="dyn(params).spec.rules",
    waivers="dyn(params).spec.waivers",
    controllers="dyn(params).spec.controllers",
    namespaces="dyn(params).spec.namespaces",
)
"""What policies read of the parameters; untyped, for the kind of these may come later."""
_WORKLOADS = frozenset({DEPLOYMENT, STATEFUL_SET})


class Mode(StrEnum):
    """What the cluster makes of a violation of a mandatory rule."""

    ENFORCE = "enforce"
    WARN = "warn"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that stand in one policy: about the same kinds, and with the same consequence.

    Attributes:
        name: What they are about and what follows, such as `workloads-deny`.
        rulings: The rules, in the order of the table.
        actions: What follows from a violation.
    """

    name: str
    rulings: tuple[Ruling, ...]
    actions: tuple[str, ...]


def bundle(
    profile: Profile, scope: Scope, waivers: Iterable[Waiver] = (), mode: Mode = Mode.ENFORCE
) -> list[dict[str, Any]]:
    """Everything that a cluster needs to judge by the rules of a profile, in order of creation.

    The kind of the parameters, the parameters of this stack, policies with every rule that CEL can
    say and that is not disabled, and the bindings that put them in force.
    """
    rulings = in_cluster(profile)
    groups = groups_of(rulings, mode)
    known = (each.rule for each in profile.rulings)
    objects = [definition(known), parameters_object(rulings, waivers, scope)]
    objects += [policy_object(each, scope) for each in groups]
    objects += [binding_object(each, scope) for each in groups]
    return objects


def groups_of(rulings: Iterable[Ruling], mode: Mode = Mode.ENFORCE) -> list[Group]:
    """The rules in as few policies as may be: an API server pays for policies, not for rules."""
    members: dict[tuple[str, tuple[str, ...]], list[Ruling]] = {}
    for ruling in rulings:
        key = _subject_of(ruling.rule), actions(ruling.level, mode)
        members.setdefault(key, []).append(ruling)
    return [
        Group(f"{about}-{done[0].lower()}", tuple(found), done)
        for (about, done), found in sorted(members.items())
    ]


def policy_object(group: Group, scope: Scope) -> dict[str, Any]:
    """ValidatingAdmissionPolicy of a group of rules."""
    policy = cluster_policy(group.rulings, GIVEN)
    return {
        "apiVersion": API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {
            "name": name_of(group, scope),
            "annotations": marks_of(group),
        },
        "spec": {
            "failurePolicy": "Fail",
            "paramKind": {"apiVersion": f"{GROUP}/{VERSION}", "kind": KIND},
            "matchConstraints": {"resourceRules": resource_rules(policy.kinds)},
            "matchConditions": expressions(policy.conditions),
            "variables": expressions(policy.variables),
            "validations": [validation_of(policy)],
            "auditAnnotations": [{"key": "waived", "valueExpression": policy.waived_expression}],
        },
    }


def binding_object(group: Group, scope: Scope) -> dict[str, Any]:
    """ValidatingAdmissionPolicyBinding of a group of rules."""
    binding = binding_of("ValidatingAdmissionPolicy", name_of(group, scope), scope)
    binding["spec"]["validationActions"] = list(group.actions)
    return binding


def binding_of(kind: str, name: str, scope: Scope) -> dict[str, Any]:
    """What binds a policy to the namespaces and the parameters of a stack."""
    return {
        "apiVersion": API_VERSION,
        "kind": f"{kind}Binding",
        "metadata": {"name": name, "annotations": {VERSION_ANNOTATION: PACK_VERSION}},
        "spec": {
            "policyName": name,
            "paramRef": {"name": f"holdfast-{scope.stack}", "parameterNotFoundAction": "Deny"},
            "matchResources": {"namespaceSelector": scope.namespace_selector},
        },
    }


def marks_of(group: Group) -> dict[str, str]:
    """Annotations of what was made from a group: the version of the pack, and the rules."""
    return {
        VERSION_ANNOTATION: PACK_VERSION,
        RULES_ANNOTATION: " ".join(ruling.rule.id for ruling in group.rulings),
    }


def validation_of(policy: ClusterPolicy) -> dict[str, str]:
    """The one validation of a policy."""
    return {
        "expression": policy.expression,
        "message": policy.message,
        "messageExpression": policy.message_expression,
        "reason": "Forbidden",
    }


def name_of(group: Group, scope: Scope) -> str:
    """Name of the policy of a group of rules, and of its binding."""
    return f"holdfast-{scope.stack}-{group.name}"


def actions(level: Level, mode: Mode) -> tuple[str, ...]:
    """What follows from a violation: `Deny` and `Warn` cannot be combined, `Audit` goes with both.

    A rule that only warns at preview only warns here.
    """
    if mode is Mode.AUDIT:
        return ("Audit",)
    if mode is Mode.WARN or level is Level.ADVISORY:
        return ("Warn", "Audit")
    return ("Deny", "Audit")


def expressions(named: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Conditions or variables as every engine writes them."""
    return [{"name": name, "expression": text} for name, text in named]


def _subject_of(rule: Rule) -> str:
    """What a rule is about, so that an object is asked few questions that are not for it."""
    if rule.kinds >= _WORKLOADS:
        return "workloads"
    return "rights" if all(kind.group == RBAC for kind in rule.kinds) else "objects"
