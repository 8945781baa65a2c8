"""Fields that exclude each other: validation, editors and the API server say the same."""

from itertools import product
from typing import Any

import pytest
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.custom_resource import custom_resource_definitions
from holdfast.manifest.publish.json_schema import manifest_schema
from holdfast.manifest.types.annotations import models_below
from holdfast.manifest.types.choices import Choosing
from jsonschema import Draft202012Validator
from pydantic_core import PydanticCustomError

MODELS = [
    each for each in models_below(KINDS.values()) if issubclass(each, Choosing) and each.CHOICES
]
DEFINITIONS = manifest_schema()["$defs"]
ABSENT: Any = object()


def aliases(model: type[Choosing]) -> dict[str, str]:
    [choice] = model.CHOICES
    return {name: model.model_fields[name].alias or name for name in choice.fields}


def is_accepted(model: type[Choosing], values: dict[str, Any]) -> bool:
    try:
        model.model_construct(**values)._one_of_each()  # type: ignore[operator]  # a validator
    except PydanticCustomError:
        return False
    return True


@pytest.mark.parametrize("model", MODELS, ids=lambda each: each.__name__)
def test_editors_refuse_what_validation_refuses(model: type[Choosing]) -> None:
    names = aliases(model)
    properties = DEFINITIONS[model.__name__]["properties"]
    published = Draft202012Validator({"allOf": DEFINITIONS[model.__name__]["allOf"]})
    lists = {name for name, alias in names.items() if properties[alias].get("type") == "array"}
    options: list[list[Any]] = [
        [ABSENT, (), ("a",)] if name in lists else [ABSENT, None, "a"] for name in names
    ]
    for values in product(*options):
        given = dict(zip(names, values, strict=True))
        built = {
            name: (() if name in lists else None) if value is ABSENT else value
            for name, value in given.items()
        }
        document = {
            names[name]: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value is not ABSENT
        }
        assert published.is_valid(document) == is_accepted(model, built), document


def test_the_schema_of_the_api_server_has_every_choice_of_an_agent() -> None:
    [agent] = [
        each for each in custom_resource_definitions() if each["spec"]["names"]["kind"] == "Agent"
    ]
    [version] = agent["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    tool = spec["properties"]["tools"]["items"]
    assert tool["allOf"] == [
        {"oneOf": [{"required": ["mcp"]}, {"required": ["agent"]}, {"required": ["http"]}]}
    ]


def test_an_override_may_hold_half_of_a_choice() -> None:
    assert "allOf" not in DEFINITIONS["ToolChange"]
