from collections.abc import Mapping
from typing import Any

from holdfast.drift.finding import Severity
from holdfast.drift.severity import BrokenRule
from holdfast.kube.paths import parse_path, value_at

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, findings, live_of

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
