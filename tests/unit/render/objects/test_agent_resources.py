"""Manifests as resources of a cluster, and back: nothing is lost on the way."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from holdfast.kube.objects import KubeObject, canonical_json
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.resource_fleet import ResourceFleet, fleet_of_resources, read_resource
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.stack.agent_resources import AgentResources
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.marks import COMMIT, REVISION
from holdfast.render.fleet import FleetPlan, render_fleet
from holdfast.render.objects.agent_resources import FINALIZER, LOCK_KEY, SETTINGS_KEY, settings_name
from holdfast.render.plan.planning import plan_fleet

CLONE = Path(__file__).resolve().parents[4]
PROJECTS = [
    pytest.param(CLONE, "dev", id="samples-dev"),
    pytest.param(CLONE, "prod", id="samples-prod"),
    pytest.param(CLONE / "tests" / "golden", "full", id="every-field"),
]


def fleet_in_mode(root: Path, stack: str, mode: str) -> Fleet:
    fleet = load_fleet(root, stack)
    settings = AgentResources.model_validate({"mode": mode})
    return replace(
        fleet, environment=fleet.environment.model_copy(update={"agent_resources": settings})
    )


def has_null(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(has_null, value.values() if isinstance(value, dict) else value))
    return value is None


def sent(plan: FleetPlan) -> list[KubeObject]:
    """The resources as the API server gets them: JSON, and without a null anywhere."""
    items = [msgspec.json.decode(canonical_json(one.manifest)) for one in plan.resource_objects()]
    assert not any(has_null(item) for item in items)
    return items


def read_back(resources: list[KubeObject], fleet: Fleet, stack: str) -> ResourceFleet:
    [settings] = [one for one in resources if one["kind"] == "ConfigMap"]
    environment = Environment.model_validate_json(settings["data"][SETTINGS_KEY])
    manifests = [read_resource(one) for one in resources if one["kind"] in KINDS]
    return fleet_of_resources(manifests, environment, stack, fleet.tool_lock)


def test_a_commit_marks_the_settings_and_no_other_object() -> None:
    plan = plan_fleet(fleet_in_mode(CLONE, "dev", "observe"), "dev")
    before, after = sent(plan), sent(replace(plan, commit="3f2a91c0"))
    [(old, new)] = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert new["metadata"]["name"] == settings_name("dev")
    assert new["metadata"]["annotations"].pop(COMMIT) == "3f2a91c0"
    assert new == old


@pytest.mark.parametrize(("root", "stack"), PROJECTS)
def test_resources_render_to_the_objects_that_the_files_render_to(root: Path, stack: str) -> None:
    fleet = fleet_in_mode(root, stack, "observe")
    plan = plan_fleet(fleet, stack)
    again = read_back(sent(plan), fleet, stack)
    assert again.invalid == again.unresolved == {}
    from_files = [one.manifest for one in render_fleet(plan) if one.role != "resource"]
    from_cluster = render_fleet(plan_fleet(again.fleet, stack))
    assert [one.manifest for one in from_cluster if one.role != "resource"] == from_files


def test_the_marks_of_who_delivers_a_resource_reach_none_of_its_agents_objects() -> None:
    fleet = fleet_in_mode(CLONE, "dev", "observe")
    plan = plan_fleet(fleet, "dev")
    resources = sent(plan)
    for each in resources:
        meta = each["metadata"]
        meta["labels"] = meta.get("labels", {}) | {"kustomize.toolkit.fluxcd.io/name": "fleet"}
        tracked = {
            "argocd.argoproj.io/tracking-id": "fleet:one",
            "meta.helm.sh/release-name": "one",
        }
        meta["annotations"] = meta.get("annotations", {}) | tracked
    again = render_fleet(plan_fleet(read_back(resources, fleet, "dev").fleet, "dev"))
    assert [one.manifest for one in again if one.role != "resource"] == [
        one.manifest for one in render_fleet(plan) if one.role != "resource"
    ]


def test_off_is_the_default_and_renders_no_resource() -> None:
    plan = plan_fleet(load_fleet(CLONE, "dev"), "dev")
    assert plan.resource_objects() == ()
    assert not [one for one in render_fleet(plan) if "holdfast.dev/" in one.manifest["apiVersion"]]


@pytest.mark.parametrize(("mode", "finalizers"), [("observe", None), ("expand", [FINALIZER])])
def test_only_agents_whose_objects_the_operator_applies_wait_for_it_when_they_go(
    mode: str, finalizers: list[str] | None
) -> None:
    plan = plan_fleet(fleet_in_mode(CLONE, "dev", mode), "dev")
    agents = [one for one in plan.resource_objects() if one.role == "resource"]
    assert {one.manifest["kind"] for one in agents} == {"Agent"}
    assert [one.manifest["metadata"].get("finalizers") for one in agents] == [finalizers] * 5


def test_settings_hold_neither_the_cluster_nor_overrides_and_have_a_namespace_that_exists() -> None:
    plan = plan_fleet(fleet_in_mode(CLONE, "dev", "observe"), "dev")
    settings = next(one.manifest for one in plan.shared_resources if not one.agent)
    assert settings["metadata"]["name"] == settings_name("organization/holdfast/dev")
    data = msgspec.json.decode(settings["data"][SETTINGS_KEY])
    assert not {"agents", "cluster"} & set(data)
    assert LOCK_KEY in settings["data"]
    names = {one.manifest["metadata"]["name"] for one in plan.namespace_objects()}
    assert settings["metadata"]["namespace"] in names


def test_one_faulty_resource_leaves_the_others_alone() -> None:
    fleet = fleet_in_mode(CLONE, "dev", "observe")
    resources = sent(plan_fleet(fleet, "dev"))
    helper = next(one for one in resources if one["metadata"]["name"] == "k8s-helper")
    helper["spec"]["version"] = "one"
    again = read_back(resources, fleet, "dev")
    [(place, [fault])] = again.invalid.items()
    assert place == ("ops", "k8s-helper")
    assert fault.startswith("spec.version: ")
    assert len(again.fleet.agents) == 4


def test_an_agent_that_refers_to_nothing_is_unresolved() -> None:
    fleet = fleet_in_mode(CLONE, "dev", "observe")
    kept = [one for one in sent(plan_fleet(fleet, "dev")) if one["kind"] != "ModelConfig"]
    again = read_back(kept, fleet, "dev")
    assert again.invalid == {}
    assert again.unresolved
    assert all(words[0].startswith("spec.") for words in again.unresolved.values())


def test_every_resource_has_the_revision_of_its_content() -> None:
    plan = plan_fleet(fleet_in_mode(CLONE, "dev", "observe"), "dev")
    assert all(one.manifest["metadata"]["annotations"][REVISION] for one in plan.resource_objects())
