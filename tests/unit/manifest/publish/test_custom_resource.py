"""The kinds as CustomResourceDefinitions: structural, and about the models' own fields."""

from collections.abc import Iterator
from typing import Any

import pytest
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.custom_resource import custom_resource_definitions

DEFINITIONS = {each["spec"]["names"]["kind"]: each for each in custom_resource_definitions()}
NOT_STRUCTURAL = {"$ref", "$defs", "const", "oneOf", "anyOf", "propertyNames", "additionalItems"}


def schema_of(kind: str) -> dict[str, Any]:
    [version] = DEFINITIONS[kind]["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


def places(schema: Any, *, is_names: bool = False) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema; names of fields are no words of it."""
    if isinstance(schema, dict):
        if not is_names:
            yield schema
        for key, below in schema.items():
            if is_names or key in {"properties", "items", "additionalProperties"}:
                yield from places(below, is_names=not is_names and key == "properties")


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_every_kind_has_a_structural_definition(kind: str) -> None:
    assert DEFINITIONS[kind]["metadata"]["name"].endswith(".holdfast.dev")
    for place in places(schema_of(kind)):
        assert not NOT_STRUCTURAL & set(place)
        assert "type" in place or any(key.startswith("x-kubernetes-") for key in place)
        assert not {"properties", "additionalProperties"} <= set(place)


def test_the_spec_of_an_agent_has_the_models_fields_and_words() -> None:
    spec = schema_of("Agent")["properties"]["spec"]
    assert set(spec["properties"]) == {
        info.alias or name for name, info in AgentSpec.model_fields.items()
    }
    assert spec["properties"]["scaling"]["properties"]["maxReplicas"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "description": "Most replicas; with minReplicas.",
    }
    surge = spec["properties"]["rollout"]["properties"]["maxSurge"]
    assert surge["x-kubernetes-int-or-string"] is True


def test_kubectl_get_shows_what_people_ask_for() -> None:
    [version] = DEFINITIONS["Agent"]["spec"]["versions"]
    shown = [each for each in version["additionalPrinterColumns"] if not each.get("priority")]
    names = [each["name"] for each in shown]
    assert names == ["Ready", "Drift", "Policy", "Model", "Version", "Age"]
    assert DEFINITIONS["Agent"]["spec"]["names"]["shortNames"] == ["ag"]
    assert set(version["subresources"]) == {"status", "scale"}


def test_the_conditions_of_a_status_are_a_map_by_type() -> None:
    conditions = schema_of("Agent")["properties"]["status"]["properties"]["conditions"]
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    wanted = ["type", "status", "lastTransitionTime", "reason", "message"]
    assert conditions["items"]["required"] == wanted
    assert "observedGeneration" in conditions["items"]["properties"]


def test_what_a_loop_tells_of_a_stack_belongs_to_no_namespace_and_is_no_manifest() -> None:
    spec = DEFINITIONS["AgentStack"]["spec"]
    assert (spec["scope"], spec["names"]["plural"]) == ("Cluster", "agentstacks")
    assert "AgentStack" not in KINDS
    columns = spec["versions"][0]["additionalPrinterColumns"]
    assert [each["name"] for each in columns if not each.get("priority")] == [
        "Synced",
        "Stalled",
        "Stable",
        "Drift",
        "Reason",
        "Suspended",
        "Commit",
        "Age",
    ]
