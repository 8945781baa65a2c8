"""The rules of level `remediate` as MutatingAdmissionPolicies: the API server puts objects right.

One policy a rule, so that each sees what the others have changed. What they cannot put right, the
ValidatingAdmissionPolicies beside them judge. Source: kubernetes.io, "Mutating Admission Policy";
admissionregistration.k8s.io/v1, Kubernetes 1.36 or newer.
"""

from collections.abc import Iterable, Iterator, Mapping
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
from holdfast_policies.admission.policy import (
    SHARED,
    by_place,
    conditions_of,
    held_waivers,
    in_own_names,
    own_variables,
    rule_name,
    variables_read,
)
from holdfast_policies.admission.resources import resource_rules
from holdfast_policies.admission.validating import (
    API_VERSION,
    GIVEN,
    RULES_ANNOTATION,
    VERSION_ANNOTATION,
    Mode,
    binding_of,
    expressions,
)
from holdfast_policies.evaluation.profile import Profile, Ruling
from holdfast_policies.evaluation.waivers import Waiver
from holdfast_policies.model.cel import quoted
from holdfast_policies.model.kinds import POD_KINDS, SERVICE_ACCOUNT
from holdfast_policies.model.rule import Level
from holdfast_policies.version import PACK_VERSION

_KIND = "MutatingAdmissionPolicy"
_KINDS = POD_KINDS | {SERVICE_ACCOUNT}
_POINTER = by_place(lambda steps: quoted("/" + "/".join((*steps, "spec"))))
_ONLY_NEW = 'oldObject == null || !(object.kind in ["Pod", "Job"])'
"""Fields of pods and Jobs cannot change once they are there."""


def remediations(
    profile: Profile, scope: Scope, waivers: Iterable[Waiver] = (), mode: Mode = Mode.ENFORCE
) -> list[dict[str, Any]]:
    """The kind of the parameters, the parameters, and a policy with its binding for each rule.

    Nothing in a mode that only warns or records: then objects stay as they are sent.
    """
    known = (each.rule for each in profile.rulings)
    objects = [definition(known), parameters_object(in_cluster(profile), waivers, scope)]
    if mode is Mode.ENFORCE:
        for ruling in remediated(profile):
            name = _name(ruling, scope)
            objects += [_policy(ruling, name), binding_of(_KIND, name, scope)]
    return objects


def remediated(profile: Profile) -> Iterator[Ruling]:
    """The rules of a profile that the API server can put right."""
    for ruling in profile.rulings:
        admission = ruling.rule.admission
        if ruling.level is Level.REMEDIATE and admission is not None and admission.patches:
            yield ruling


def _policy(ruling: Ruling, name: str) -> dict[str, Any]:
    kinds = ruling.rule.kinds & _KINDS
    conditions = [*conditions_of(kinds, GIVEN), ("can-be-changed", _ONLY_NEW)]
    patches = _patches(ruling)
    marks = {VERSION_ANNOTATION: PACK_VERSION, RULES_ANNOTATION: ruling.rule.id}
    return {
        "apiVersion": API_VERSION,
        "kind": _KIND,
        "metadata": {"name": name, "annotations": marks},
        "spec": {
            # What could not be put right is judged by the policies that validate.
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "IfNeeded",
            "paramKind": {"apiVersion": f"{GROUP}/{VERSION}", "kind": KIND},
            "matchConstraints": {"resourceRules": resource_rules(kinds)},
            "matchConditions": expressions(conditions),
            "variables": expressions(_variables(ruling, patches)),
            "mutations": [
                {"patchType": "JSONPatch", "jsonPatch": {"expression": patches}},
            ],
        },
    }


def _patches(ruling: Ruling) -> str:
    """CEL of the patches where the rule is broken and not waived."""
    admission = ruling.rule.admission
    assert admission is not None  # noqa: S101  # who asks has looked
    texts = " + ".join(in_own_names(ruling, each) for each in admission.patches)
    waived = f"variables.waivers.exists(w, {quoted(ruling.rule.id)} in w.rules)"
    return f"variables.{rule_name(ruling)}.size() > 0 && !{waived} ? {texts} : []"


def _variables(ruling: Ruling, patches: str) -> list[tuple[str, str]]:
    known: Mapping[str, str] = {
        **SHARED,
        "podPointer": _POINTER,
        **own_variables(ruling, ruling.rule.kinds, GIVEN),
        # An object that is created has no time yet: the policies that validate know the last day.
        "waivers": held_waivers(GIVEN.waivers, is_timed=False),
        "patches": patches,
    }
    return [each for each in variables_read(known, ("patches",), ()) if each[0] != "patches"]


def _name(ruling: Ruling, scope: Scope) -> str:
    return f"holdfast-{scope.stack}-{ruling.rule.id}-remediate"
