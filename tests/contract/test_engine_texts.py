"""What the pack hands the engine as a text is read back whole, for every case of every rule."""

import json

import pytest
from holdfast.adapters.engine.results import read_result
from holdfast.operations.policy.engine_verdicts import UNDETERMINED as NAME_IN_REPORTS
from holdfast.operations.policy.engine_verdicts import EngineRun, engine_report
from holdfast.operations.policy.model import PolicyFinding, Verdict
from holdfast_policies.evaluation.judge import Violation
from holdfast_policies.model.rule import Rule
from holdfast_policies.model.wording import printable
from holdfast_policies.pack.answers import UNDETERMINED, diagnostic
from holdfast_policies.table import RULES

from tests.policies.rule_cases import cases_of, run

STACK_EVENT = {"policyAnalyzeStackSummaryEvent": {"policyPackName": "holdfast", "passed": []}}


def read_back(violation: Violation) -> PolicyFinding:
    """The finding that a report makes of the engine's event for a violation."""
    told = diagnostic(violation)
    event = {
        "policyName": told.policyName,
        "policyPackName": told.policyPackName,
        "enforcementLevel": str(violation.level),
        "severity": str(violation.severity),
        # As the engine passes it on: with a line end.
        "message": f"{told.message}\n",
    }
    lines = [json.dumps(each).encode() for each in ({"policyEvent": event}, STACK_EVENT)]
    (found,) = engine_report(EngineRun("prod", "prod", read_result("preview", lines))).findings
    return found


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in RULES])
def test_every_violation_is_read_back(rule: Rule) -> None:
    violations = [each for case in cases_of(rule) for each in run(case).violations]
    assert violations
    for violation in violations:
        found = read_back(violation)
        assert (found.rule, found.verdict) == (rule.id, Verdict.VIOLATED)
        assert (found.path, found.expected, found.found, found.remedy) == (
            printable(violation.path),
            printable(violation.required),
            printable(violation.got),
            printable(violation.remedy),
        )


def test_the_name_of_what_cannot_be_decided_is_the_pack_s() -> None:
    assert NAME_IN_REPORTS == UNDETERMINED
