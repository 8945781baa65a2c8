"""How bad a finding is."""

from collections.abc import Mapping
from typing import Any

import pytest
from holdfast.drift.finding import DriftClass, Severity
from holdfast.drift.severity import BrokenRule, severity_of_field, severity_of_object, with_rules
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import ABSENT, parse_path, value_at

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, findings, live_of

POD = "spec.template.spec"
ENFORCE = 'metadata.labels["pod-security.kubernetes.io/enforce"]'


@pytest.mark.parametrize(
    ("kind", "path", "desired", "live", "severity"),
    [
        pytest.param("Deployment", "metadata.labels.a", "1", "2", "low", id="label"),
        pytest.param("Deployment", f"{POD}.containers[name=a].image", "1", "2", "medium",
                     id="image"),
        pytest.param("Deployment", f"{POD}.hostNetwork", ABSENT, True, "critical", id="network"),
        pytest.param("Deployment", f"{POD}.volumes[name=h]", ABSENT,
                     {"name": "h", "hostPath": {"path": "/"}}, "critical", id="host path"),
        pytest.param("Deployment", f"{POD}.containers[name=x]", ABSENT,
                     {"securityContext": {"privileged": True}}, "critical", id="privileged"),
        pytest.param("Deployment", f"{POD}.containers[name=x]", ABSENT, {"image": "x"}, "medium",
                     id="plain sidecar"),
        pytest.param("Deployment", f"{POD}.serviceAccountName", "a", "b", "high", id="identity"),
        pytest.param("Service", "spec.selector.app", "a", "b", "high", id="selector"),
        pytest.param("Service", "spec.type", "ClusterIP", "LoadBalancer", "critical", id="exposed"),
        pytest.param("Service", "spec.type", "LoadBalancer", "ClusterIP", "medium", id="closed"),
        pytest.param("NetworkPolicy", "spec.egress[1]", ABSENT, {}, "critical", id="egress"),
        pytest.param("Role", "rules[0].verbs[1]", ABSENT, "*", "critical", id="rights widened"),
        pytest.param("RoleBinding", "subjects[1]", ABSENT, {}, "high", id="subject"),
        pytest.param("Secret", "data.key", "a", "b", "high", id="secret"),
        pytest.param("ServiceAccount", 'metadata.annotations["cloud/role"]', "a", "b", "high",
                     id="role of an account"),
        pytest.param("Namespace", ENFORCE, "restricted", "privileged", "critical", id="lowered"),
        pytest.param("Namespace", ENFORCE, "baseline", "restricted", "medium", id="raised"),
        pytest.param("Namespace", ENFORCE, "baseline", ABSENT, "critical", id="level removed"),
        pytest.param("ConfigMap", "data.a", "1", "2", "medium", id="config"),
    ],
)  # fmt: skip
def test_what_was_touched_says_how_bad_it_is(
    kind: str, path: str, desired: Any, live: Any, severity: str
) -> None:
    ref = ObjectRef("cx", kind, "one", "v1")
    drift_class = DriftClass.ADDED if desired is ABSENT else DriftClass.CHANGED
    assert severity_of_field(ref, drift_class, parse_path(path), desired, live) == severity


def test_fewer_rights_are_less_bad_than_more() -> None:
    ref = ObjectRef("cx", "Role", "one", "rbac.authorization.k8s.io/v1")
    path = parse_path("rules[0].verbs[1]")
    assert severity_of_field(ref, DriftClass.REMOVED, path, "get", ABSENT) is Severity.HIGH


@pytest.mark.parametrize(
    ("kind", "drift_class", "severity"),
    [
        pytest.param("Deployment", DriftClass.MISSING, "high", id="gone"),
        pytest.param("NetworkPolicy", DriftClass.MISSING, "critical", id="isolation gone"),
        pytest.param("ConfigMap", DriftClass.RECREATED, "medium", id="recreated"),
        pytest.param("RoleBinding", DriftClass.UNMANAGED, "critical", id="rights nobody declared"),
        pytest.param("ConfigMap", DriftClass.UNMANAGED, "low", id="leftover"),
        pytest.param("Deployment", DriftClass.TERMINATING, "high", id="going"),
    ],
)
def test_whole_objects_have_a_severity_too(
    kind: str, drift_class: DriftClass, severity: str
) -> None:
    versions = {"RoleBinding": "rbac.authorization.k8s.io/v1"}
    ref = ObjectRef("cx", kind, "one", versions.get(kind, "v1"))
    assert severity_of_object(ref, drift_class) == severity


@pytest.mark.parametrize(
    ("rule", "severity"),
    [
        pytest.param(
            BrokenRule("r", is_mandatory=True, is_security=True), "critical", id="security"
        ),
        pytest.param(BrokenRule("r", is_mandatory=True, is_security=False), "high", id="other"),
        pytest.param(BrokenRule("r", is_mandatory=False, is_security=True), "low", id="advice"),
    ],
)
def test_a_broken_mandatory_rule_makes_it_worse(rule: BrokenRule, severity: str) -> None:
    assert with_rules(Severity.LOW, [rule]) == severity


def test_a_rule_never_makes_it_better() -> None:
    rule = BrokenRule("r", is_mandatory=True, is_security=False)
    assert with_rules(Severity.CRITICAL, [rule]) is Severity.CRITICAL


HOST = "spec.template.spec.hostNetwork"


def judge(one: Mapping[str, Any]) -> dict[str, BrokenRule]:
    """Three rules: no evil image, no host network, and not both labels at once."""
    broken = set()
    if "evil" in str(value_at(one, parse_path(f"{CONTAINER}.image"))):
        broken.add("image")
    if value_at(one, parse_path(HOST)) is True:
        broken.add("host")
    labels = one["metadata"]["labels"]
    if {"x", "y"} <= set(labels):
        broken.add("both")
    return {name: BrokenRule(name, is_mandatory=True, is_security=True) for name in broken}


def policies(live: dict[str, Any]) -> list[tuple[str, ...]]:
    found = findings(DEPLOYMENT, live_of(DEPLOYMENT, live, managedFields=[{}]), judge=judge)
    return [each.policies for each in found]


def test_a_finding_names_the_rule_it_breaks_and_not_those_of_others() -> None:
    found = policies({f"{CONTAINER}.image": "evil:1", "metadata.labels.tier": "back"})
    assert found == [(), ("image",)]


def test_a_rule_that_only_several_changes_break_is_held_against_all_of_them() -> None:
    assert policies({"metadata.labels.x": "1", "metadata.labels.y": "1"}) == [("both",), ("both",)]


def test_a_rule_that_the_declaration_breaks_already_is_not_news() -> None:
    declared = {**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], "labels": {"x": "", "y": ""}}}
    live = live_of(declared, {"metadata.labels.z": "1"}, managedFields=[{}])
    (found,) = findings(declared, live, judge=judge)
    assert found.policies == ()


def test_a_broken_mandatory_security_rule_is_critical() -> None:
    live = live_of(DEPLOYMENT, {f"{CONTAINER}.image": "evil:1"})
    (found,) = findings(DEPLOYMENT, live, judge=judge)
    assert found.severity is Severity.CRITICAL


def test_nothing_is_judged_when_nothing_differs() -> None:
    def never(one: Mapping[str, Any]) -> dict[str, BrokenRule]:
        raise AssertionError(one)

    assert findings(DEPLOYMENT, live_of(DEPLOYMENT), judge=never) == []
