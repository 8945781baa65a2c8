"""Rules are asked about agents, namespaces, labels, or everything; what limits them is reported."""

import copy
from typing import Any

import pytest
from holdfast_policies.evaluation.judge import judge_stack, violations
from holdfast_policies.evaluation.profile import PolicyConfigError, profile_of
from holdfast_policies.evaluation.weakened import in_words, weakenings
from holdfast_policies.model.subject import Subject

from tests.policies.pack_engine import Engine, pod, summary


def workload(labels: dict[str, str], namespace: str = "shop") -> dict[str, Any]:
    spec = {"containers": [{"name": "web", "image": "web:latest"}]}
    metadata = {"labels": labels}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"template": {"metadata": metadata, "spec": spec}},
    }


def without_agent() -> dict[str, Any]:
    found = copy.deepcopy(pod())
    del found["metadata"]["labels"]["holdfast.dev/agent"]
    return found


def broken(kube_object: dict[str, Any], config: dict[str, Any] | None = None) -> set[str]:
    return {each.rule for each in violations(kube_object, "prod", config)}


def test_a_workload_that_is_no_agent_is_not_asked_for_what_only_agents_declare() -> None:
    agent_rules = {"log-retention-and-redaction-declared", "provenance-annotations"}
    assert not agent_rules & broken(workload({"app": "web"}))
    assert agent_rules <= broken(workload({"app": "web", "holdfast.dev/agent": "web"}))
    assert "image-digest-pinned" in broken(workload({"app": "web"}))


SCOPES = [
    ({"namespaces": ["shop"]}, True),
    ({"namespaces": ["sh*"]}, True),
    ({"namespaces": ["team-*", "other"]}, False),
    ({"labels": {"app": "web"}}, True),
    ({"labels": {"app": "*"}}, True),
    ({"labels": {"app": "db"}}, False),
    ({"agents": True}, False),
    ({"agents": False}, True),
    ({"namespaces": ["shop"], "labels": {"tier": "1"}}, False),
]


@pytest.mark.parametrize(("scope", "is_asked"), SCOPES)
def test_a_rule_is_asked_about_what_its_settings_name(
    scope: dict[str, Any],
    is_asked: bool,  # a table's column
) -> None:
    config = {"image-digest-pinned": {"appliesTo": scope}}
    assert ("image-digest-pinned" in broken(workload({"app": "web"}), config)) is is_asked


def test_a_whole_profile_is_limited_by_all() -> None:
    everything = {"all": {"appliesTo": {"namespaces": ["agents"]}}}
    assert broken(workload({"app": "web"}), everything) == set()
    assert broken(workload({"app": "web"}, "agents"), everything)


def test_a_stack_rule_reports_only_objects_that_it_applies_to() -> None:
    config = {"stack-network-policy-coverage": {"appliesTo": {"namespaces": ["agents"]}}}
    objects = [workload({"app": "web"}), workload({"app": "web"}, "agents")]
    found = [
        each.subject.namespace
        for each in judge_stack(objects, "prod", config)
        if each.rule == "stack-network-policy-coverage"
    ]
    assert set(found) == {"agents"}


def test_a_limit_by_settings_counts_as_weakened() -> None:
    profile = profile_of("prod", {"pss-privileged": {"appliesTo": {"agents": True}}})
    assert in_words(weakenings(profile)) == (
        "1 rule: pss-privileged (mandatory → mandatory, only agents)"
    )


WRONG = [
    ({"pss-privileged": {"appliesTo": {"agent": True}}}, "it has: agents, namespaces, labels"),
    ({"pss-privileged": {"appliesTo": {"namespaces": []}}}, "expected names of namespaces"),
    ({"pss-privileged": {"appliesTo": {"namespaces": ["a*b"]}}}, "expected names of namespaces"),
    ({"pss-privileged": {"appliesTo": {"labels": {"a": 1}}}}, "expected labels"),
    ({"pss-privileged": {"appliesTo": {"agents": "yes"}}}, "expected true or false"),
    ({"all": {"appliesTo": []}}, "expected a mapping"),
]


@pytest.mark.parametrize(("config", "words"), WRONG)
def test_a_wrong_limit_is_refused(config: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyConfigError) as refused:
        profile_of("prod", config)
    assert words in str(refused.value)


def test_the_engine_hears_that_a_rule_was_not_asked() -> None:
    engine = Engine()
    response = engine.analyze(without_agent())
    passed, _ = summary(engine, response)
    assert "log-retention-and-redaction-declared" not in passed
    assert "pss-privileged" in passed


def test_an_object_whose_labels_are_not_known_is_asked() -> None:
    config = {"pss-privileged": {"appliesTo": {"labels": {"app": "web"}}}}
    (ruling,) = [
        each for each in profile_of("prod", config).rulings if each.rule.id == "pss-privileged"
    ]
    assert not ruling.is_about(Subject.of(workload({})))
