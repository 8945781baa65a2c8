"""The rules as policies of the cluster: complete, closed in what they read, and as strict."""

import json
import re
from datetime import date
from typing import Any

import pytest
from holdfast_policies.admission.parameters import Scope, in_cluster
from holdfast_policies.admission.validating import Group, Mode, actions, bundle, policy_object
from holdfast_policies.evaluation.profile import Ruling, profile_of
from holdfast_policies.evaluation.waivers import Waiver
from holdfast_policies.model.rule import Environment, Level, Rule
from holdfast_policies.table import RULES, RULES_BY_ID
from holdfast_policies.version import PACK_VERSION

SCOPE = Scope("prod", namespaces=("agents",))
EVERY_RULING = [pytest.param(each, id=each.rule.id) for each in in_cluster(profile_of("prod"))]
EVERY_RULE = [pytest.param(rule, id=rule.id) for rule in RULES]
WAIVER = Waiver(
    name="debug",
    rules=("pss-privileged",),
    kind="Deployment",
    namespace="agents",
    object_name="coder",
    reason="a debugger needs it",
    owner="sre",
    ticket="OPS-1",
    approver="security",
    expires=date(2027, 1, 31),
)


@pytest.mark.parametrize("ruling", EVERY_RULING)
def test_a_policy_reads_only_variables_that_stand_before(ruling: Ruling) -> None:
    spec = policy_object(_alone(ruling), SCOPE)["spec"]
    known: set[str] = set()
    for variable in spec["variables"]:
        assert set(_read(variable["expression"])) <= known
        known.add(variable["name"])
    validation = spec["validations"][0]
    for expression in (validation["expression"], validation["messageExpression"]):
        assert set(_read(expression)) <= known
    assert not any(_read(condition["expression"]) for condition in spec["matchConditions"])


@pytest.mark.parametrize("ruling", EVERY_RULING)
def test_a_message_without_expression_is_one_line(ruling: Ruling) -> None:
    """The API server falls back to it, and refuses line breaks."""
    message = policy_object(_alone(ruling), SCOPE)["spec"]["validations"][0]["message"]
    assert message == f"{ruling.rule.description}; {ruling.rule.remedy}"
    assert "\n" not in message


@pytest.mark.parametrize("ruling", EVERY_RULING)
def test_a_rule_without_parameters_reads_none(ruling: Ruling) -> None:
    variables = policy_object(_alone(ruling), SCOPE)["spec"]["variables"]
    reads = any(variable["name"].endswith("_settings") for variable in variables)
    assert not reads or ruling.rule.parameters


@pytest.mark.parametrize(
    ("level", "mode", "expected"),
    [
        pytest.param(Level.MANDATORY, Mode.ENFORCE, ("Deny", "Audit"), id="mandatory"),
        pytest.param(Level.ADVISORY, Mode.ENFORCE, ("Warn", "Audit"), id="advisory"),
        pytest.param(Level.MANDATORY, Mode.WARN, ("Warn", "Audit"), id="mandatory-to-warn"),
        pytest.param(Level.MANDATORY, Mode.AUDIT, ("Audit",), id="mandatory-to-audit"),
    ],
)
def test_a_binding_does_what_the_level_says(
    level: Level, mode: Mode, expected: tuple[str, ...]
) -> None:
    assert actions(level, mode) == expected


def test_a_disabled_rule_has_no_policy() -> None:
    profile = profile_of("prod", {"pss-privileged": "disabled"})
    assert "pss-privileged" in _rules(bundle(profile_of("prod"), SCOPE))
    assert "pss-privileged" not in _rules(bundle(profile, SCOPE))


def test_every_rule_that_cel_can_say_stands_in_one_policy() -> None:
    rules = _rules(bundle(profile_of("prod"), SCOPE))
    assert sorted(rules) == sorted(each.rule.id for each in in_cluster(profile_of("prod")))


def test_rules_of_another_level_stand_in_another_policy() -> None:
    """What is denied and what is only warned of cannot be told apart within one."""
    for item in bundle(profile_of("staging"), SCOPE):
        if item["kind"] == "ValidatingAdmissionPolicy":
            rules = item["metadata"]["annotations"]["holdfast.dev/rules"].split()
            levels = {RULES_BY_ID[rule].levels.of(Environment.STAGING).refuses for rule in rules}
            assert len(levels) == 1


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_rule_either_has_its_cel_or_says_why_not(rule: Rule) -> None:
    assert (rule.admission is None) == bool(rule.not_in_cluster)
    assert not rule.not_in_cluster.endswith(".")


def test_policies_carry_the_version_of_the_pack() -> None:
    """By it the rule stack-admission-parity knows them."""
    for item in bundle(profile_of("prod"), SCOPE):
        if item["kind"] == "ValidatingAdmissionPolicy":
            annotations = item["metadata"]["annotations"]
            assert annotations["holdfast.dev/policy-version"] == PACK_VERSION


def test_waivers_reach_the_parameters_without_their_reasons() -> None:
    parameters = bundle(profile_of("prod"), SCOPE, [WAIVER])[1]
    (entry,) = parameters["spec"]["waivers"]
    assert entry["expires"] == "2027-01-31"
    assert "debugger" not in json.dumps(parameters)


def test_the_scope_of_a_stack_is_its_namespaces() -> None:
    binding = bundle(profile_of("prod"), SCOPE)[-1]
    (expression,) = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert (expression["operator"], expression["values"]) == ("In", ["agents"])


def test_the_scope_of_a_cluster_leaves_out_kubernetes_own() -> None:
    binding = bundle(profile_of("prod"), Scope("prod"))[-1]
    (expression,) = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert expression["operator"] == "NotIn"
    assert "kube-system" in expression["values"]


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_every_parameter_has_a_schema_that_its_default_fits(rule: Rule) -> None:
    definition = bundle(profile_of("prod"), SCOPE)[0]
    (version,) = definition["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    if rule.admission is not None and rule.parameters:
        properties = spec["properties"]["rules"]["properties"][rule.id]["properties"]
        assert set(properties) == {parameter.name for parameter in rule.parameters}


def _alone(ruling: Ruling) -> Group:
    return Group(ruling.rule.id, (ruling,), actions(ruling.level, Mode.ENFORCE))


def _rules(objects: list[dict[str, Any]]) -> list[str]:
    return [
        rule
        for item in objects
        if item["kind"] == "ValidatingAdmissionPolicy"
        for rule in item["metadata"]["annotations"]["holdfast.dev/rules"].split()
    ]


def _read(expression: str) -> list[str]:
    return re.findall(r"(?<![.\w])variables\.([A-Za-z]\w*)", expression)
