"""The pack as the engine meets it: real requests, real answers."""

import importlib.metadata
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import json_format
from holdfast_policies.model.finding import Finding
from holdfast_policies.model.kinds import ANY_KIND, Kind
from holdfast_policies.model.rule import Settings
from holdfast_policies.model.subject import Subject
from holdfast_policies.pack.answers import UNDETERMINED
from holdfast_policies.pack.sdk import proto
from holdfast_policies.table import RULES, RULES_BY_ID

from tests.policies.pack_engine import (
    DEPLOYMENT,
    POD,
    PRIVILEGED,
    SECRET,
    Engine,
    pod,
    summary,
)
from tests.policies.rule_cases import UNKNOWN, with_value


def test_the_sdk_is_of_the_versions_this_was_written_for() -> None:
    version = importlib.metadata.version("pulumi-policy")
    assert version.startswith("1.21."), "read pack/sdk.py and pack/servicer.py against the new one"


def test_tells_the_engine_everything_about_every_rule() -> None:
    info = Engine().info
    assert info.name == "holdfast"
    assert info.supportsConfig
    assert [policy.name for policy in info.policies] == [rule.id for rule in RULES]
    for policy in info.policies:
        rule = RULES_BY_ID[policy.name]
        assert policy.displayName == rule.title
        assert policy.remediation_steps == rule.remedy
        assert policy.url == rule.source
        assert list(policy.tags) == list(rule.frameworks)
        assert proto.PolicySeverity.Name(policy.severity).endswith(rule.severity.upper())
        is_stack_rule = rule.check is None
        assert (policy.policy_type == proto.POLICY_TYPE_STACK) is is_stack_rule


def test_config_schemas_bind_whole_texts() -> None:
    policies = {policy.name: policy for policy in Engine().info.policies}
    schema = json_format.MessageToDict(policies["pss-sysctls"].configSchema.properties)
    assert schema["pss_version"]["pattern"].startswith("^(?:")
    assert "default" not in schema["pss_version"]


def test_a_violation_has_the_name_level_and_severity_of_its_rule() -> None:
    (diagnostic,) = Engine().analyze(PRIVILEGED).diagnostics
    assert diagnostic.policyName == "pss-privileged"
    assert diagnostic.enforcementLevel == proto.MANDATORY
    assert diagnostic.severity == proto.POLICY_SEVERITY_CRITICAL
    assert diagnostic.message.startswith(RULES_BY_ID["pss-privileged"].description)
    assert "spec.containers[name=agent].securityContext.privileged" in diagnostic.message


def test_an_unknown_value_is_a_note_and_neither_passes_nor_fails() -> None:
    engine = Engine()
    response = engine.analyze(pod("/spec/containers/0/image", UNKNOWN))
    (note,) = response.diagnostics
    assert note.policyName == UNDETERMINED
    assert note.enforcementLevel == proto.ADVISORY
    assert "image-digest-pinned: spec.containers[name=agent].image" in note.message
    passed, failed = summary(engine, response)
    assert failed == {UNDETERMINED}
    assert not passed & {"image-digest-pinned", "image-registry-allowlist"}


def test_a_violation_beside_an_unknown_still_counts() -> None:
    properties = with_value(
        PRIVILEGED, "/spec/initContainers/0/securityContext/privileged", UNKNOWN
    )
    violation, note = Engine().analyze(properties).diagnostics
    assert violation.policyName == "pss-privileged"
    assert violation.enforcementLevel == proto.MANDATORY
    assert note.policyName == UNDETERMINED


def test_every_rule_but_the_failed_ones_passes_where_it_applies() -> None:
    engine = Engine()
    passed, failed = summary(engine, engine.analyze(PRIVILEGED))
    pod = Kind("", "Pod")
    applied = {rule.id for rule in RULES if rule.check and {pod, ANY_KIND} & rule.kinds}
    assert failed == {"pss-privileged"}
    assert passed == applied - failed


@pytest.mark.parametrize("token", ["pulumi:pulumi:Stack", "pulumi:providers:kubernetes", "a:b:C"])
def test_nothing_passes_on_what_is_no_kubernetes_object(token: str) -> None:
    engine = Engine()
    assert summary(engine, engine.analyze({"spec": {}}, token)) == (set(), set())


def test_a_patch_cannot_be_decided() -> None:
    engine = Engine()
    response = engine.analyze({"spec": {}}, "kubernetes:apps/v1:DeploymentPatch")
    (note,) = response.diagnostics
    assert note.policyName == UNDETERMINED
    passed, _ = summary(engine, response)
    assert not passed


def test_the_type_token_says_the_kind_where_the_program_does_not() -> None:
    template = {"metadata": {}, "spec": {"hostNetwork": True, "containers": []}}
    response = Engine().analyze({"spec": {"template": template}}, DEPLOYMENT)
    assert "pss-host-namespaces" in {each.policyName for each in response.diagnostics}


def test_a_secret_is_judged_and_never_shown() -> None:
    secret = {**SECRET, "value": "sk-ant-api03-AAAAbbbbCCCCddddEEEEffff"}
    response = Engine().analyze(pod("/spec/containers/0/env/0/value", secret))
    (diagnostic,) = response.diagnostics
    assert diagnostic.policyName == "no-literal-credentials"
    assert "AAAAbbbb" not in str(response)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/spec", {"hostNetwork": True, "containers": [{"name": "hush-1", "image": "hush-2"}]}),
        ("/spec/containers/0/image", "hush-3"),
        ("/spec/containers/0/securityContext/capabilities/add", ["hush-4"]),
        ("/spec/volumes/0/hostPath", {"path": "/hush-5"}),
        ("/spec/containers/0/name", "hush-6"),
    ],
)
def test_what_the_program_declared_secret_is_never_shown(pointer: str, value: Any) -> None:
    properties = with_value(PRIVILEGED, pointer, {**SECRET, "value": value})
    response = Engine().analyze(properties)
    assert response.diagnostics
    assert "hush" not in str(response)


def test_a_secret_does_not_hide_what_is_in_it() -> None:
    secret = {**SECRET, "value": {"privileged": True}}
    response = Engine().analyze(pod("/spec/containers/0/securityContext", secret))
    assert "pss-privileged" in {each.policyName for each in response.diagnostics}


@pytest.fixture
def broken_rule() -> Iterator[str]:
    """A rule that raises, with a value of the object in the text of what it raises."""
    rule = RULES_BY_ID["pss-sysctls"]
    check = rule.check

    def broken(subject: Subject, _: Settings) -> list[Finding]:
        raise KeyError(subject.spec["serviceAccountName"])

    object.__setattr__(rule, "check", broken)
    yield rule.id
    object.__setattr__(rule, "check", check)


def test_a_rule_that_raises_fails_closed_and_names_itself_and_the_resource(
    broken_rule: str,
) -> None:
    (diagnostic,) = Engine("dev").analyze(pod("/metadata/name", "w")).diagnostics
    assert diagnostic.policyName == broken_rule
    assert diagnostic.enforcementLevel == proto.MANDATORY
    assert "KeyError at test_servicer.py:" in diagnostic.message
    assert "Pod agents/w" in diagnostic.message
    assert "'agent'" not in diagnostic.message


OUTSIDE = {
    "image-signature-verification-in-place": "disabled",
    "stack-admission-parity": "disabled",
}
"""What a few resources alone would miss."""


def test_stack_rules_judge_all_resources_together() -> None:
    policy = {
        "metadata": {"name": "p", "namespace": "agents"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }
    engine = Engine(config=OUTSIDE)
    about_stacks = {rule.id for rule in RULES if rule.check is None}
    covered = engine.analyze_stack(
        (POD, pod()), ("kubernetes:networking.k8s.io/v1:NetworkPolicy", policy)
    )
    assert not covered.diagnostics
    assert summary(engine, covered, stack=True) == (about_stacks, set())
    bare = engine.analyze_stack((POD, pod()))
    (diagnostic,) = bare.diagnostics
    assert diagnostic.policyName == "stack-network-policy-coverage"
    assert diagnostic.urn.endswith("::r0")


def test_two_agents_with_one_account_are_distinguished_by_label() -> None:
    policy = {
        "metadata": {"name": "p", "namespace": "agents"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }
    covering = ("kubernetes:networking.k8s.io/v1:NetworkPolicy", policy)
    other = pod("/metadata/labels/holdfast.dev~1agent", "other")
    response = Engine(config=OUTSIDE).analyze_stack(covering, (POD, pod()), (POD, other))
    assert [each.policyName for each in response.diagnostics] == ["dedicated-service-account"] * 2
    assert "which other uses as well" in response.diagnostics[0].message
    assert (
        not Engine(config=OUTSIDE).analyze_stack(covering, (POD, pod()), (POD, pod())).diagnostics
    )


def test_an_unknown_namespace_leaves_the_stack_rule_open() -> None:
    engine = Engine(config=OUTSIDE)
    response = engine.analyze_stack((POD, pod("/metadata/namespace", UNKNOWN)))
    (note,) = response.diagnostics
    assert note.policyName == UNDETERMINED
    assert "stack-network-policy-coverage: metadata.namespace" in note.message
    passed, _ = summary(engine, response, stack=True)
    assert "stack-network-policy-coverage" not in passed
