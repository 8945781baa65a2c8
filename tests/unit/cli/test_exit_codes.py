"""One table from results to exit codes: only what is known to be fine is fine."""

from dataclasses import replace

import pytest
from holdfast.cli.exit_codes import Result, exit_code_of
from holdfast.drift.finding import AgentState, NotChecked
from holdfast.errors import ExitCode, ManifestError, SourceLocation
from holdfast.operations.describe.compare import LiveComparison
from holdfast.operations.describe.fleet import FleetReport, OpenDrift, StackStatus
from holdfast.operations.validate.gates import GateReport, GateStep, StepResult
from holdfast.operations.validate.report import OnStacks, ValidationReport

from tests.unit.report.fleets import SLOW, UNSEEN, agent, broken, policy, stack
from tests.unit.report.reports import CONFIG

FINE = StackStatus("prod", None, (agent("a"),))
FAULT = OnStacks(ManifestError(SourceLocation("a.yaml"), "", expected="expected a name"), ())
REFUSED = OnStacks(broken("job-bounds", "a", is_mandatory=True), ())
GATES = GateReport("prod", "", (GateStep("unit", StepResult.FAILED, 130),))


def status(**facts: object) -> StackStatus:
    return replace(FINE, agents=(agent("a", **facts),))


@pytest.mark.parametrize(
    ("result", "code"),
    [
        pytest.param(FINE, ExitCode.OK, id="a stack that is fine"),
        pytest.param(status(sync=AgentState.OUT_OF_SYNC), ExitCode.DRIFT, id="an agent drifts"),
        pytest.param(
            status(health=SLOW, drift=(OpenDrift(CONFIG),)), ExitCode.DRIFT, id="drift comes first"
        ),
        pytest.param(
            replace(FINE, drift=(CONFIG,)), ExitCode.DRIFT, id="drift that belongs to no agent"
        ),
        pytest.param(status(health=SLOW), ExitCode.ERROR, id="an agent is not healthy"),
        pytest.param(status(sync=AgentState.UNKNOWN), ExitCode.ERROR, id="an agent is unknown"),
        pytest.param(
            replace(FINE, not_checked=(UNSEEN,)), ExitCode.ERROR, id="not everything was read"
        ),
        pytest.param(ValidationReport((), ()), ExitCode.OK, id="valid files"),
        pytest.param(ValidationReport((FAULT,), ()), ExitCode.BAD_INPUT, id="a faulty file"),
        pytest.param(ValidationReport((REFUSED,), ()), ExitCode.POLICY, id="a refused file"),
        pytest.param(
            ValidationReport((REFUSED, FAULT), ()), ExitCode.BAD_INPUT, id="a fault comes first"
        ),
        pytest.param(policy(agents=("a",)), ExitCode.OK, id="every rule passed"),
        pytest.param(policy(broken("x", "a")), ExitCode.OK, id="an advisory rule is broken"),
        pytest.param(
            policy(broken("x", "a", is_mandatory=True)), ExitCode.POLICY, id="a rule refuses"
        ),
        pytest.param(
            replace(policy(), not_checked=(UNSEEN,)), ExitCode.ERROR, id="rules saw only a part"
        ),
        pytest.param(GATES, 130, id="a gate's own program"),
        pytest.param(replace(GATES, steps=()), ExitCode.OK, id="every gate holds"),
        pytest.param(LiveComparison((), ()), ExitCode.OK, id="two clusters alike"),
        pytest.param(
            LiveComparison((), (("dev", NotChecked("a", "b")),)), ExitCode.ERROR, id="half read"
        ),
        pytest.param(FleetReport("p", "", None, ()), ExitCode.OK, id="a fleet"),
        pytest.param(
            FleetReport("p", "", None, (stack("dev", (), not_checked=(UNSEEN,)),)),
            ExitCode.ERROR,
            id="a fleet of which a part is not known",
        ),
    ],
)
def test_only_what_is_known_to_be_fine_is_fine(result: Result, code: int) -> None:
    assert exit_code_of(result) == code
