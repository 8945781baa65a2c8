"""Which model a probe asks about: an agent's own, or the shared one that it refers to."""

from pathlib import Path

import pytest
from holdfast.drift.probes.answers import ExpectedModel
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.scan.probing.run import expected_model

from tests.unit.manifest.projects import MANIFEST, agent, write

SHARED = """\
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: sonnet}
spec: {provider: Anthropic, name: sonnet, expectResolved: sonnet-1}
"""


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param(
            "{provider: OpenAI, name: gpt, expectResolved: gpt-1}",
            ExpectedModel("OpenAI", "gpt", "gpt-1"),
            id="its own",
        ),
        pytest.param(
            "{ref: sonnet}", ExpectedModel("Anthropic", "sonnet", "sonnet-1"), id="a shared one"
        ),
        pytest.param(
            "{ref: sonnet, expectResolved: sonnet-2}",
            ExpectedModel("Anthropic", "sonnet", "sonnet-2"),
            id="a shared one, expected otherwise",
        ),
        pytest.param("{provider: OpenAI, name: gpt}", None, id="nobody says"),
    ],
)
def test_the_expected_model_is_the_one_that_the_agent_uses(
    tmp_path: Path, model: str, expected: ExpectedModel | None
) -> None:
    write(tmp_path, "agents/models.yaml", SHARED)
    write(tmp_path, MANIFEST, agent(spec=f"model: {model}"))
    fleet = load_fleet(tmp_path)
    assert expected_model(fleet, fleet.agents[0]) == expected
