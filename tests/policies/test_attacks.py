"""The attack table: what breaks the intent of a rule is refused, and its clean twin is not."""

from collections import Counter

import pytest
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.model.rule import Level

from tests.policies.attacks.table import Attack, Kube, all_attacks

CONFIG = {"pvc-approved-class": {"classes": ["encrypted"]}}
GOVERNANCE = {
    *("owner-and-cost-labels", "provenance-annotations", "telemetry-configured", "graceful-drain"),
    *("log-retention-and-redaction-declared", "probes-distinct-and-bounded", "stateful-protected"),
    *("min-replicas-and-spread", "stack-network-policy-coverage", "stack-namespace-baseline"),
    *("image-signature-verification-in-place", "stack-admission-parity", "stack-trust-zones"),
    *("data-class-and-retention-declared", "external-secret-store", "stack-effective-rbac"),
    *("secrets-as-files", "no-token-automount-of-stack", "stack-disruption-budget-coverage"),
}
"""What small objects do not declare, and what takes a whole stack."""
ATTACKS = all_attacks()


def refused_by(objects: tuple[Kube, ...]) -> set[str]:
    profile = profile_of("prod", CONFIG)
    found = [each for one in objects for each in judge.violations(one, profile)]
    found += judge.judge_stack(objects, profile)
    return {each.rule for each in found if each.level is Level.MANDATORY} - GOVERNANCE


@pytest.mark.parametrize(
    "attack", [pytest.param(one, id=f"{one.family}/{one.name}") for one in ATTACKS]
)
def test_the_attack_is_refused_and_its_clean_twin_is_not(attack: Attack) -> None:
    assert refused_by(attack.bad)
    assert not refused_by(attack.clean)


def test_there_are_enough_attacks_of_every_family() -> None:
    counts = Counter(attack.family for attack in ATTACKS)
    assert sum(counts.values()) >= 150, counts
    assert len(counts) >= 12
