"""What resources declare, rendered: one faulty agent leaves the others, and what stays is kept."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import msgspec
import pytest
from holdfast.drift.ignore import IgnoreRules
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject, canonical_json
from holdfast.manifest.agent_resources import AgentResources
from holdfast.manifest.fleet import Fleet
from holdfast.manifest.loader import load_fleet
from holdfast.operator.declaration import Renderer, Settings, Verdicts, read_settings
from holdfast.render.declared import plan_fleet

CLONE = Path(__file__).resolve().parents[3]
STACK = "dev"


def declared() -> tuple[Settings, list[KubeObject]]:
    fleet = load_fleet(CLONE, STACK)
    mode = {"agent_resources": AgentResources(mode="expand")}
    fleet = replace(fleet, environment=fleet.environment.model_copy(update=mode))
    items = plan_fleet(fleet, STACK).resource_objects()
    resources = [msgspec.json.decode(canonical_json(item.manifest)) for item in items]
    for number, one in enumerate(resources):
        one["metadata"] |= {"uid": str(number), "generation": 1}
    [settings] = [one for one in resources if one["kind"] == "ConfigMap"]
    return read_settings(settings), [one for one in resources if one is not settings]


def verdicts(_: Fleet) -> Verdicts:
    return Verdicts(lambda _: {}, lambda _: (), IgnoreRules((), date(2026, 11, 22)))


def renderer() -> Renderer:
    return Renderer(STACK, verdicts, tuple)


def named(resources: list[KubeObject], name: str) -> KubeObject:
    return next(one for one in resources if one["metadata"]["name"] == name)


def test_an_agent_that_refers_to_nothing_leaves_the_others_as_they_are() -> None:
    settings, resources = declared()
    named(resources, "k8s-helper")["spec"]["model"] = {"ref": "nobody"}
    declaration = renderer().declaration(settings, resources)
    assert declaration.mode == "expand"
    assert set(declaration.unresolved) == {("ops", "k8s-helper")}
    assert len(declaration.rendered) == 4
    assert all(declaration.knows(place) for place in [("ops", "k8s-helper"), *declaration.rendered])


def test_only_what_changed_is_rendered_anew() -> None:
    settings, resources = declared()
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


def test_a_status_changes_nothing() -> None:
    settings, resources = declared()
    ours = renderer()
    before = ours.declaration(settings, resources)
    for one in resources:
        one["status"] = {"phase": "Ready"}
    after = ours.declaration(settings, resources)
    assert all(items is before.rendered[place] for place, items in after.rendered.items())


def test_what_agents_share_is_rendered_into_all_of_them() -> None:
    settings, resources = declared()
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
def test_settings_that_are_not_there_are_told_of(
    config_map: KubeObject | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_settings(config_map)
