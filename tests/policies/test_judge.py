"""The pure entry point: plain objects in, violations out, whatever the objects look like."""

from typing import Any

import pytest
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import PolicyConfigError, profile_of
from holdfast_policies.model.rule import Level
from holdfast_policies.table import RULES

from tests.policies.rule_cases import allowed_case, pointers, with_value

PRIVILEGED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "agent", "namespace": "agents"},
    "spec": {"containers": [{"name": "main", "securityContext": {"privileged": True}}]},
}


def rules_of(violations: list[judge.Violation]) -> set[str]:
    return {violation.rule for violation in violations}


def test_names_rule_level_path_and_remedy() -> None:
    violation = next(
        each for each in judge.violations(PRIVILEGED, "dev") if each.rule == "pss-privileged"
    )
    assert violation.level == "mandatory"
    assert violation.path == "spec.containers[name=main].securityContext.privileged"
    assert "got true" in violation.message
    assert "set it to false" in violation.message
    assert violation.subject.label == "Pod agents/agent"


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"apiVersion": "v1", "kind": "Pod"},
        {"apiVersion": "v1", "kind": "Pod", "spec": None},
        {"apiVersion": "v1", "kind": "Pod", "spec": "text"},
        {"apiVersion": 1, "kind": ["Pod"]},
        {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": []}},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": {"a": 1}}},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [None, 3, "x", [], {}]}},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"volumes": [None, 1, {"name": 2}]}},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": 1, "image": 2}]}},
        {"apiVersion": "v1", "kind": "Service", "spec": {"type": 3, "externalIPs": "x"}},
    ],
)
def test_never_raises_on_odd_input(odd: dict[str, Any]) -> None:
    assert not faults(judge.violations(odd, "prod") + judge.judge_stack([odd], "prod"))


def faults(found: list[judge.Violation]) -> list[str]:
    """What rules that raised say of themselves."""
    return [each.message for each in found if each.description.startswith("A rule failed")]


ODD_VALUES: list[Any] = [None, 0, -1, 1.5, True, "", "x", [], [None], [[]], ["x"], {}, {"": None}]
ALLOWED = [pytest.param(allowed_case(rule).kube_object, id=rule.id) for rule in RULES]


@pytest.mark.parametrize("allowed", ALLOWED[:1] + ALLOWED[16:])
def test_no_rule_fails_whatever_stands_anywhere(allowed: dict[str, Any]) -> None:
    for pointer in pointers(allowed):
        for odd in ODD_VALUES:
            changed = with_value(allowed, pointer, odd)
            found = judge.violations(changed, "prod") + judge.judge_stack([changed], "prod")
            assert not faults(found), (pointer, odd)


def test_environment_sets_the_level() -> None:
    levels = {
        environment: next(
            each.level
            for each in judge.violations(PRIVILEGED, environment)
            if each.rule == "pss-run-as-non-root"
        )
        for environment in ("dev", "staging", "prod", "somewhere-else")
    }
    assert levels == {
        "dev": Level.ADVISORY,
        "staging": Level.MANDATORY,
        "prod": Level.MANDATORY,
        "somewhere-else": Level.MANDATORY,
    }


def test_config_overrides_rule_by_rule() -> None:
    config = {"all": "disabled", "pss-privileged": "advisory"}
    (violation,) = judge.violations(PRIVILEGED, "prod", config)
    assert violation.rule == "pss-privileged"
    assert violation.level is Level.ADVISORY


def test_wrong_config_is_refused_with_every_fault() -> None:
    config = {
        "pss-privilegd": "advisory",
        "pss-sysctls": "fatal",
        "image-registry-allowlist": {"registries": []},
        "image-digest-pinned": {"acept": "digest"},
    }
    with pytest.raises(PolicyConfigError) as caught:
        profile_of("dev", config)
    assert len(caught.value.faults) == len(config)
    assert 'did you mean "pss-privileged"?' in str(caught.value)
    assert 'did you mean "accept"?' in str(caught.value)
    assert "an empty list would allow nothing" in str(caught.value)
