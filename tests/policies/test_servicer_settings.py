"""Levels and parameters: by profile, by the stack, by a config file."""

import json
from typing import Any

import grpc
import pytest
from holdfast_policies.pack.sdk import proto
from holdfast_policies.table import RULES_BY_ID

from tests.policies.pack_engine import PRIVILEGED, AbortedError, Engine, pod, summary
from tests.policies.rule_cases import with_value


@pytest.mark.parametrize(
    ("stack", "level"),
    [("dev", proto.ADVISORY), ("staging", proto.MANDATORY), ("x", proto.MANDATORY)],
)
def test_the_stack_sets_the_level(stack: str, level: int) -> None:
    (diagnostic,) = Engine(stack).analyze(pod("/spec/serviceAccountName", "default")).diagnostics
    assert diagnostic.enforcementLevel == level


def test_the_settings_of_the_stack_set_profile_and_rules() -> None:
    settings = {"profile": "dev", "rules": {"pss-privileged": {"enforcementLevel": "advisory"}}}
    engine = Engine("eu-1", stack_config={"holdfast:policy": json.dumps(settings)})
    announced = {policy.name: policy.enforcementLevel for policy in engine.info.policies}
    assert announced["pss-privileged"] == announced["dedicated-service-account"] == proto.ADVISORY
    (diagnostic,) = engine.analyze(PRIVILEGED).diagnostics
    assert diagnostic.enforcementLevel == proto.ADVISORY


def test_a_rule_in_the_settings_of_the_stack_may_be_a_level_alone() -> None:
    settings = json.dumps({"rules": {"all": "advisory", "pss-privileged": "disabled"}})
    engine = Engine("prod", stack_config={"holdfast:policy": settings})
    both = with_value(PRIVILEGED, "/spec/serviceAccountName", "default")
    (diagnostic,) = engine.analyze(both).diagnostics
    assert diagnostic.policyName == "dedicated-service-account"
    assert diagnostic.enforcementLevel == proto.ADVISORY


def test_a_config_file_overrides_the_settings_of_the_stack() -> None:
    rules = {"no-token-automount": {"enforcementLevel": "advisory", "accounts": ["agents/agent"]}}
    settings = json.dumps({"rules": rules})
    asked_for = pod("/spec/automountServiceAccountToken", True)
    engine = Engine("prod", stack_config={"holdfast:policy": settings})
    assert not engine.analyze(asked_for).diagnostics
    overridden = Engine(
        "prod",
        {"no-token-automount": {"accounts": ["agents/other"]}},
        stack_config={"holdfast:policy": settings},
    )
    (diagnostic,) = overridden.analyze(asked_for).diagnostics
    assert diagnostic.enforcementLevel == proto.ADVISORY


@pytest.mark.parametrize(
    "settings", ['{"profile": "production"}', '{"rules": {"nonsense": {}}}', "[]", "{"]
)
def test_wrong_settings_of_the_stack_are_refused(settings: str) -> None:
    with pytest.raises(AbortedError, match="holdfast:policy"):
        Engine("prod", stack_config={"holdfast:policy": settings})


def test_without_a_stack_the_urn_sets_the_level_unless_a_file_does() -> None:
    """`pulumi policy analyze` names no stack."""
    default_account = pod("/spec/serviceAccountName", "default")
    (diagnostic,) = Engine(None).analyze(default_account).diagnostics
    assert diagnostic.enforcementLevel == proto.ADVISORY
    config = {"dedicated-service-account": "mandatory"}
    (diagnostic,) = Engine(None, config).analyze(default_account).diagnostics
    assert diagnostic.enforcementLevel == proto.MANDATORY


def test_a_config_file_changes_level_and_parameters() -> None:
    config = {
        "pss-privileged": "advisory",
        "dedicated-service-account": {"shared_accounts": ["agent"]},
    }
    first, second = Engine("prod", config).analyze(PRIVILEGED).diagnostics
    assert (first.policyName, first.enforcementLevel) == ("pss-privileged", proto.ADVISORY)
    assert (second.policyName, second.enforcementLevel) == (
        "dedicated-service-account",
        proto.MANDATORY,
    )


def test_a_disabled_rule_neither_passes_nor_fails() -> None:
    engine = Engine("prod", {"pss-privileged": "disabled"})
    passed, failed = summary(engine, engine.analyze(PRIVILEGED))
    assert "pss-privileged" not in passed | failed


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        ({"pss-privilegd": "advisory"}, 'did you mean "pss-privileged"?'),
        ({"pss-sysctls": {"versoin": "1.30"}}, 'no parameter "versoin"'),
        ({"pss-host-path": "remediate"}, "this rule never puts an object right"),
        ({"image-registry-allowlist": {"registries": []}}, "empty list"),
    ],
)
def test_a_wrong_config_file_is_refused(config: dict[str, Any], fault: str) -> None:
    with pytest.raises(AbortedError) as caught:
        Engine("prod", config)
    code, details = caught.value.args
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert fault in details


def test_rules_that_ask_less_than_their_profile_are_reported_at_every_preview() -> None:
    engine = Engine(
        config={"pss-privileged": "advisory", "pss-sysctls": {"enforcementLevel": "disabled"}}
    )
    engine.analyze_stack()
    (told,) = engine.weakened
    assert told.policyName == "rule-weakened"
    assert "pss-privileged (mandatory → advisory)" in told.message
    assert "pss-sysctls (mandatory → disabled)" in told.message


def test_a_preview_that_asks_no_rule_is_refused() -> None:
    engine = Engine(config=dict.fromkeys(RULES_BY_ID, "disabled"))
    engine.analyze_stack()
    (told,) = engine.weakened
    assert (told.policyName, told.enforcementLevel) == ("no-rule-asked", proto.MANDATORY)


def test_a_preview_by_the_whole_profile_says_nothing_of_levels() -> None:
    engine = Engine()
    engine.analyze_stack()
    assert not engine.weakened
