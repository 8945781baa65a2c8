"""Assessment results: a control is satisfied when everything that serves it passed everywhere."""

import json
from dataclasses import replace
from typing import Any

import pytest
from holdfast.operations.policy.model import PolicyReport
from holdfast.report.exchange.oscal import oscal
from holdfast_policies.table import RULES

from tests.unit.report.policy_runs import (
    END,
    THE_STACK,
    deployment,
    report,
    step,
    summary,
    violation,
)

SAME = step("same", deployment(), deployment())
TEXT = "About\nspec.x: expected nothing, got true; remove it"
PASSED = report(SAME, summary("pss-host-ports"), THE_STACK, END)


def results(found: PolicyReport) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(oscal(found, RULES))
    (result,) = document["assessment-results"]["results"]
    assert isinstance(result, dict)
    return result


def status_of(found: PolicyReport, control: str) -> dict[str, str]:
    targets = [each["target"] for each in results(found)["findings"]]
    (status,) = [each["status"] for each in targets if each["target-id"] == control]
    assert isinstance(status, dict)
    return status


def test_a_control_whose_rules_pass_is_satisfied() -> None:
    assert status_of(PASSED, "sc-7") == {"state": "satisfied", "reason": "pass"}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        pytest.param(
            report(
                SAME,
                violation(TEXT, policyName="pss-host-ports", enforcementLevel="advisory"),
                summary(failed=("pss-host-ports",)),
                THE_STACK,
                END,
            ),
            "fail",
            id="a violation, even an advisory one",
        ),
        pytest.param(
            report(
                SAME,
                violation(
                    f"{TEXT} [waived by a until 2027-01-01: X]",
                    policyName="pss-host-ports",
                    enforcementLevel="advisory",
                ),
                summary("egress-scoped"),
                THE_STACK,
                END,
            ),
            "other",
            id="a waiver",
        ),
        pytest.param(report(SAME, summary("pss-host-ports"), END), "other", id="not all judged"),
    ],
)
def test_nothing_else_satisfies_it(found: PolicyReport, reason: str) -> None:
    status = status_of(found, "sc-7")
    assert (status["state"], status["reason"]) == ("not-satisfied", reason)


def test_an_observation_names_what_was_judged() -> None:
    observation = next(
        each for each in results(PASSED)["observations"] if each["title"] == "pss-host-ports"
    )
    assert [each["title"] for each in observation["subjects"]] == ["Deployment cx/support-rag"]


def test_the_same_report_gives_the_same_document() -> None:
    timed = replace(PASSED, observed_at="2026-11-22T00:00:00Z")
    assert oscal(timed, RULES) == oscal(timed, RULES)
    assert '"last-modified": "2026-11-22T00:00:00Z"' in oscal(timed, RULES)


def test_a_report_about_nothing_is_a_document_still() -> None:
    empty = replace(PASSED, objects=(), findings=())
    assert "findings" not in results(empty)
