"""What resources declare, rendered: one faulty agent leaves the others, and what stays is kept."""

import pytest
from holdfast.controllers.operator.declaration import Renderer, Settings, read_settings
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject

from tests.unit.controllers.operator.resources import STACK, declared, named, verdicts


def read() -> tuple[Settings, list[KubeObject]]:
    settings, resources = declared()
    return read_settings(settings), resources


def renderer() -> Renderer:
    return Renderer(STACK, verdicts, tuple)


def test_an_agent_that_refers_to_nothing_leaves_the_others_as_they_are() -> None:
    settings, resources = read()
    named(resources, "k8s-helper")["spec"]["model"] = {"ref": "nobody"}
    declaration = renderer().declaration(settings, resources)
    assert declaration.mode == "expand"
    assert set(declaration.unresolved) == {("ops", "k8s-helper")}
    assert len(declaration.rendered) == 4
    assert all(declaration.knows(place) for place in [("ops", "k8s-helper"), *declaration.rendered])


def test_only_what_changed_is_rendered_again() -> None:
    settings, resources = read()
    ours = renderer()
    before = ours.declaration(settings, resources)
    helper = named(resources, "k8s-helper")
    helper["spec"]["version"], helper["metadata"]["generation"] = "9.9.9", 2
    helper["status"] = {"phase": "Ready"}
    after = ours.declaration(settings, resources)
    changed = {
        place for place, items in after.rendered.items() if items is not before.rendered[place]
    }
    assert changed == {("ops", "k8s-helper")}
    again = [
        each for each in after.agents if after.agents[each].agent is not before.agents[each].agent
    ]
    assert again == [("ops", "k8s-helper")]


def test_a_status_changes_nothing() -> None:
    settings, resources = read()
    ours = renderer()
    before = ours.declaration(settings, resources)
    for one in resources:
        one["status"] = {"phase": "Ready"}
    after = ours.declaration(settings, resources)
    assert all(items is before.rendered[place] for place, items in after.rendered.items())


def test_what_agents_share_is_rendered_into_all_of_them() -> None:
    settings, resources = read()
    ours = renderer()
    before = ours.declaration(settings, resources)
    shared = next(one for one in resources if one["kind"] == "ModelConfig")
    shared["metadata"]["generation"] = 2
    after = ours.declaration(settings, resources)
    assert all(items is not before.rendered[place] for place, items in after.rendered.items())


@pytest.mark.parametrize(
    ("config_map", "message"),
    [
        pytest.param(None, "settings of the stack are not there; run `pulumi up`", id="absent"),
        pytest.param({"data": {"environment.json": "{]"}}, "holds no settings", id="damaged"),
    ],
)
def test_settings_that_are_not_there_are_reported(
    config_map: KubeObject | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_settings(config_map)
