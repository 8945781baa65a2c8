"""A policy report as text: what one setting causes in many objects is one entry."""

from holdfast.drift.finding import Severity
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.operations.policy.model import PolicyFinding, PolicyReport, Verdict
from holdfast.report.text.policy_text import policy_text

SETTING = SourceLocation("stacks/Pulumi.prod.yaml", 33, 7)


def finding(name: str, location: SourceLocation | None) -> PolicyFinding:
    return PolicyFinding(
        ref=ObjectRef("cx", "Deployment", name, "apps/v1"),
        agent=name,
        rule="image-registry-allowlist",
        is_mandatory=True,
        severity=Severity.HIGH,
        verdict=Verdict.VIOLATED,
        expected="an allowed registry",
        location=location,
    )


def report(*findings: PolicyFinding) -> str:
    return policy_text(PolicyReport("Policy of stack prod", "policy/prod", "prod", findings))


def test_violations_of_one_setting_are_one_entry_that_names_the_other_objects() -> None:
    text = report(*(finding(name, SETTING) for name in "abcdef"))
    assert text.count("image-registry-allowlist") == 1
    also = "also    5 violations of the same cause: "
    assert f"{also}Deployment cx/b, Deployment cx/c, Deployment cx/d and 2 more" in text
    assert "6 mandatory violations" in text, "each counts"


def test_violations_of_other_lines_and_of_none_stand_alone() -> None:
    text = report(
        finding("a", SETTING), finding("b", SourceLocation("agents/b.yaml", 6)),
        finding("c", None), finding("d", None),
    )  # fmt: skip
    assert text.count("image-registry-allowlist") == 4
    assert "also" not in text
