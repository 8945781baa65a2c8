"""An agent that needs a controller which its stack does not declare is refused."""

import pytest
from holdfast.errors import RenderError
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.stack.environment import Environment
from holdfast.render.plan.render_context import RenderContext

NIGHTLY = {"start": "0 8 * * *", "end": "0 9 * * *", "replicas": 1}
IDLE = AgentSpec.model_validate(
    {
        "version": "1.0.0",
        "image": f"r.example/a@sha256:{'0' * 64}",
        "scaling": {"idleSeconds": 60, "schedules": [NIGHTLY]},
    }
)


def test_a_declared_controller_is_enough() -> None:
    environment = Environment(controllers=("keda",))
    RenderContext(environment).require_all("triage", IDLE)


def test_an_undeclared_controller_is_named_with_the_field_and_the_way_out() -> None:
    with pytest.raises(RenderError) as refused:
        RenderContext().require_all("triage", IDLE)
    text = str(refused.value)
    assert "agent triage: spec.scaling.idleSeconds needs KEDA" in text
    assert "add keda to holdfast:controllers" in text
