"""What rules of level `remediate` put right: minimal, once, never beside a doubt."""

import copy
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from holdfast_policies.decode.properties import (
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN_TEXTS,
    decode_properties,
)
from holdfast_policies.evaluation.judge import judgement_of
from holdfast_policies.evaluation.profile import Ruling, profile_of
from holdfast_policies.evaluation.remediation import (
    REMEDIATED_KINDS,
    AppliedRemediation,
    remediating_rulings,
    remediation_of,
)
from holdfast_policies.evaluation.waivers import NO_WAIVERS, Waiver, Waivers
from holdfast_policies.model.edit import CannotEditError, Edit, with_edits
from holdfast_policies.model.kinds import POD_TEMPLATE_PATHS, Kind, kind_of
from holdfast_policies.model.rule import Environment, Fix, Level, Rule
from holdfast_policies.model.subject import Subject
from holdfast_policies.pack.patching import patched
from holdfast_policies.table import RULES, RULES_BY_ID
from hypothesis import given
from hypothesis import strategies as st

from tests.policies.rule_cases import (
    REMOVED,
    Case,
    allowed_case,
    cases_of,
    pointers,
    with_value,
)
from tests.policies.test_rules import wrapped

URN = "urn:pulumi:staging::project::kubernetes:apps/v1:Deployment::agent"
REMEDIATING = [rule for rule in RULES if rule.remediate is not None]
GIVEN = {
    "owner-and-cost-labels": {
        "defaults": ["holdfast.dev/owner=platform", "holdfast.dev/cost-center=17"]
    },
}
"""Settings without which a rule does not know what to put there."""
DEPLOYMENT = Kind("apps", "Deployment")


def ruling_of(rule: Rule) -> Ruling:
    settings = {each.name: each.value_in(Environment.STAGING) for each in rule.parameters}
    return Ruling(rule, Level.REMEDIATE, settings | GIVEN.get(rule.id, {}))


def deployment(pod: Mapping[str, Any]) -> dict[str, Any]:
    """A Deployment of the pod; what is no Pod stays what it is."""
    if pod["kind"] != "Pod":
        return copy.deepcopy(dict(pod))
    made = wrapped(pod, DEPLOYMENT, POD_TEMPLATE_PATHS[DEPLOYMENT])
    made["metadata"] = copy.deepcopy(pod["metadata"])
    return made


def remediate(
    rule: Rule, kube_object: Mapping[str, Any], waivers: Waivers = NO_WAIVERS
) -> AppliedRemediation | None:
    return remediation_of(Subject.of(kube_object, URN), ruling_of(rule), waivers)


def violating() -> list[tuple[Rule, Case]]:
    return [
        (rule, case)
        for rule in REMEDIATING
        for case in cases_of(rule)
        if case.violates is not None
        and not case.settings
        and kind_of(case.kube_object) in {*REMEDIATED_KINDS, Kind("", "Pod")}
        and "ephemeral" not in case.violates
    ]


REMEDIATED = [
    pytest.param(rule, case, id=case.id)
    for rule, case in violating()
    if remediate(rule, deployment(case.kube_object)) is not None
]


def test_the_rules_that_the_reference_lets_remediated_can() -> None:
    remediating = {
        rule.id for rule in RULES if Level.REMEDIATE in (rule.levels.staging, rule.levels.prod)
    }
    assert {rule.id for rule in REMEDIATING} == remediating
    assert all(rule.fix is not Fix.NO for rule in REMEDIATING)
    assert {str(param.id).partition("/")[0] for param in REMEDIATED} == remediating


@pytest.mark.parametrize(("rule", "case"), REMEDIATED)
def test_what_was_remediated_passes_and_is_left_alone_then(rule: Rule, case: Case) -> None:
    before = deployment(case.kube_object)
    kept = copy.deepcopy(before)
    remediation = remediate(rule, before)
    assert remediation is not None
    assert before == kept, "the object itself must not change"
    assert judgement_of(remediation.subject, ruling_of(rule), NO_WAIVERS) is None
    assert remediate(rule, remediation.subject.object) is None


@pytest.mark.parametrize(("rule", "case"), REMEDIATED)
def test_nothing_but_the_edits_is_changed(rule: Rule, case: Case) -> None:
    before = deployment(case.kube_object)
    remediation = remediate(rule, before)
    assert remediation is not None
    old, new = leaves(before), leaves(remediation.subject.object)
    places = {"".join(f"/{step}" for step in edit.steps) for edit in remediation.edits}
    for pointer in old.keys() | new.keys():
        # What was empty is not once something was put into it.
        is_edited = any(f"{pointer}/".startswith(f"{place}/") for place in places) or any(
            place.startswith(f"{pointer}/") for place in places
        )
        assert is_edited or old.get(pointer) == new.get(pointer), pointer
    assert all(edit.words in remediation.words for edit in remediation.edits)


@pytest.mark.parametrize(("rule", "case"), REMEDIATED)
def test_nothing_is_changed_while_anything_is_unknown(rule: Rule, case: Case) -> None:
    before = deployment(case.kube_object)
    for pointer in pointers(before):
        if pointer in ("/apiVersion", "/kind"):
            continue
        unknown = decoded(with_value(before, pointer, min(UNKNOWN_TEXTS)))
        assert remediate(rule, unknown) is None, pointer


@pytest.mark.parametrize(("rule", "case"), REMEDIATED)
def test_what_is_waived_is_left_as_it_is(rule: Rule, case: Case) -> None:
    before = deployment(case.kube_object)
    metadata = before["metadata"]
    waiver = Waiver(
        "w",
        (rule.id,),
        before["kind"],
        metadata.get("namespace", "default"),
        metadata["name"],
        "r",
        "o",
        "t",
        "a",
        date(2026, 3, 1),
    )
    assert remediate(rule, before, Waivers((waiver,), date(2026, 3, 1))) is None
    assert remediate(rule, before, Waivers((waiver,), date(2026, 3, 2))) is not None


@pytest.mark.parametrize(("rule", "case"), REMEDIATED)
def test_the_engine_s_encoding_is_changed_alike(rule: Rule, case: Case) -> None:
    before = deployment(case.kube_object)
    remediation = remediate(rule, before)
    assert remediation is not None
    struct = encoded(before)
    kept = struct_pb2.Struct()
    kept.CopyFrom(struct)
    assert decode_properties(patched(struct, remediation.edits)) == decoded(
        dict(remediation.subject.object)
    )
    assert struct == kept


@pytest.mark.parametrize("kind", ["Pod", "Job"])
def test_what_can_only_be_replaced_is_not_remediated(kind: str) -> None:
    """The engine loses what was changed of an object that it deletes and makes anew."""
    assert not [each for each in REMEDIATED_KINDS if each.name == kind]
    profile = profile_of("prod", {"all": "mandatory", "pss-seccomp": "remediate"})
    assert [each.rule.id for each in remediating_rulings(profile, DEPLOYMENT)] == ["pss-seccomp"]
    assert remediating_rulings(profile, Kind("", "Pod")) == ()


@given(st.data())
def test_putting_right_twice_is_putting_right_once(data: st.DataObject) -> None:
    """Law, for objects broken in any places at once."""
    rule = data.draw(st.sampled_from(REMEDIATING))
    one = deployment(allowed_case(RULES_BY_ID["pss-privileged"]).kube_object)
    for _ in range(data.draw(st.integers(1, 4))):
        pointer = data.draw(
            st.sampled_from([each for each in pointers(one) if each.count("/") > 1])
        )
        value = data.draw(st.sampled_from([REMOVED, None, {}, [], False, True, 0, "", "x"]))
        one = with_value(one, pointer, value)
    remediation = remediate(rule, one)
    if remediation is not None:
        assert judgement_of(remediation.subject, ruling_of(rule), NO_WAIVERS) is None
        assert remediate(rule, remediation.subject.object) is None
        struct = encoded(one)
        changed = decode_properties(patched(struct, remediation.edits))
        assert changed == decoded(dict(remediation.subject.object))


def test_a_secret_beside_stays_secret_and_is_not_reported() -> None:
    before = deployment(case_named("pss-seccomp").kube_object)
    secret = {SIGNATURE_KEY: SECRET_SIGNATURE, "value": "the-secret"}
    marked = with_value(before, "/spec/template/spec/containers/0/env/0/value", secret)
    rule = RULES_BY_ID["pss-seccomp"]
    remediation = remediate(rule, decode_properties(encoded(marked)))
    assert remediation is not None
    assert "the-secret" not in remediation.words
    changed = json_format.MessageToDict(patched(encoded(marked), remediation.edits))
    environment = changed["spec"]["template"]["spec"]["containers"][0]["env"]
    assert environment[0]["value"] == secret


def test_a_secret_around_is_changed_within_its_mark() -> None:
    before = deployment(case_named("pss-seccomp").kube_object)
    secret = {SIGNATURE_KEY: SECRET_SIGNATURE, "value": before["spec"]["template"]["spec"]}
    marked = with_value(before, "/spec/template/spec", secret)
    remediation = remediate(RULES_BY_ID["pss-seccomp"], decode_properties(encoded(marked)))
    assert remediation is not None
    changed = json_format.MessageToDict(patched(encoded(marked), remediation.edits))
    assert changed["spec"]["template"]["spec"][SIGNATURE_KEY] == SECRET_SIGNATURE
    context = changed["spec"]["template"]["spec"]["value"]["securityContext"]
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}


def test_an_edit_makes_what_is_absent_and_refuses_what_is_in_its_way() -> None:
    edit = Edit(("a", "b", "c"), 1)
    assert with_edits({"a": None}, [edit]) == {"a": {"b": {"c": 1}}}
    with pytest.raises(CannotEditError):
        with_edits({"a": "text"}, [edit])
    with pytest.raises(CannotEditError):
        with_edits({"a": []}, [Edit(("a", 0), 1)])
    assert (
        Edit(("metadata", "labels", "a.b/c", 0), "x").words == 'metadata.labels["a.b/c"][0] = "x"'
    )


def case_named(rule: str) -> Case:
    return next(case for each, case in violating() if each.id == rule)


def encoded(kube_object: Mapping[str, Any]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    json_format.ParseDict(dict(kube_object), struct)
    return struct


def decoded(kube_object: Mapping[str, Any]) -> dict[str, Any]:
    return decode_properties(encoded(kube_object))


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict) and value:
        parts = [leaves(item, f"{path}/{key}") for key, item in value.items()]
    elif isinstance(value, list) and value:
        parts = [leaves(item, f"{path}/{index}") for index, item in enumerate(value)]
    else:
        return {path: value}
    return {pointer: leaf for part in parts for pointer, leaf in part.items()}
