"""An agent that needs a controller which its stack does not declare is refused."""

import pytest
from holdfast.errors import RenderError
from holdfast.manifest.stack.environment import Environment
from holdfast.render.plan.surroundings import Surroundings


def test_a_declared_controller_is_enough() -> None:
    environment = Environment(controllers=("keda",))
    Surroundings(environment).require("keda", "triage", "spec.scaling.idleSeconds")


def test_an_undeclared_controller_is_named_with_the_field_and_the_way_out() -> None:
    with pytest.raises(RenderError) as refused:
        Surroundings().require("keda", "triage", "spec.scaling.idleSeconds")
    text = str(refused.value)
    assert "agent triage: spec.scaling.idleSeconds needs KEDA" in text
    assert "add keda to holdfast:controllers" in text
