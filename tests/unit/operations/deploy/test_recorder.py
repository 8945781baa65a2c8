"""What is recorded of a policy pack's verdict on an update."""

import pytest
from holdfast.adapters.engine.results import read_result
from holdfast.operations.deploy.recorder import policy_verdict

ADVICE = (
    b'{"policyEvent":{"message":"m","policyName":"a","policyPackName":"p",'
    b'"enforcementLevel":"advisory"}}'
)
REFUSAL = ADVICE.replace(b"advisory", b"mandatory")
UNREADABLE = ADVICE.replace(b'"m"', b'["m"]')


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        pytest.param([], "passed", id="nothing-broken"),
        pytest.param([ADVICE], "passed, 1 advisory", id="advice"),
        pytest.param([ADVICE, REFUSAL], "refused: a", id="refused"),
        pytest.param(
            [ADVICE, UNREADABLE],
            "not checked: events could not be read: 1 policyEvent",
            id="a-violation-that-cannot-be-read",
        ),
        pytest.param([REFUSAL, UNREADABLE], "refused: a", id="refused-at-least"),
    ],
)
def test_a_verdict_is_only_passed_when_all_of_it_was_read(lines: list[bytes], said: str) -> None:
    assert policy_verdict(read_result("preview", lines)) == said
