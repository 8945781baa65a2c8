"""The components' arguments, in every language, are those of the models that validate them."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import holdfast
import pytest
from holdfast.components import arguments
from holdfast.components.argument_types import ARGUMENTS, IDENTIFYING, TARGET, source
from holdfast.components.inputs import AgentInputs
from holdfast.components.package import COMPONENTS
from holdfast.components.package_schema import (
    arguments_model,
    package_schema,
    schema_text,
    type_token,
)
from holdfast.components.registration import RenderedComponent
from holdfast.components.type_expressions import Record, fields_of, is_plain, records_below
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.publish.json_schema import field_descriptions
from pydantic import BaseModel

from tests.component_samples import samples

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = package_schema(COMPONENTS)
NESTED = {
    record.name: record.model for model in ARGUMENTS.values() for record in records_below(model)
}
TYPES = ARGUMENTS | {f"{name}Args": model for name, model in NESTED.items()}


def test_the_generated_arguments_are_current() -> None:
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"],
        input=source(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert TARGET.read_text() == formatted, "run `make schema`"


def test_the_published_schema_of_the_package_is_current() -> None:
    published = (ROOT / "docs/schema/package.schema.json").read_text(encoding="utf-8")
    assert published == schema_text(SCHEMA), "run `make schema`"


@pytest.mark.parametrize(("name", "model"), TYPES.items())
def test_typed_dictionary_and_model_have_the_same_fields(name: str, model: type[BaseModel]) -> None:
    typed = getattr(arguments, name)
    assert set(typed.__annotations__) == set(model.model_fields)
    required = {field for field, info in model.model_fields.items() if info.is_required()}
    assert typed.__required_keys__ == required
    assert get_type_hints(typed)


def test_a_field_that_arguments_share_is_declared_once() -> None:
    tree = ast.parse(TARGET.read_text())
    declared = {
        each.name: [
            line.target.id
            for line in each.body
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
        ]
        for each in tree.body
        if isinstance(each, ast.ClassDef)
    }
    assert [name for name, fields in declared.items() if "history_limit" in fields] == ["RunArgs"]
    assert not {"namespace", "shared", "resources"} & set(declared["McpServerArgs"])
    assert "image" in declared["McpServerArgs"], "required here, optional in a manifest"


def test_each_line_of_a_documentation_is_indented_as_its_field() -> None:
    lines = TARGET.read_text().splitlines()
    below_classes = lines[next(at for at, line in enumerate(lines) if line.startswith("class")) :]
    assert {line[:4] for line in below_classes if line} == {"clas", "    "}


@pytest.mark.parametrize(("name", "model"), NESTED.items())
def test_a_type_of_the_package_is_the_model_with_its_documentation(
    name: str, model: type[BaseModel]
) -> None:
    described = SCHEMA["types"][type_token(name)]
    assert_same_fields(model, described["properties"], described["required"])


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda each: each.__name__)
def test_a_component_of_the_package_is_the_class_with_its_documentation(
    component: type[Any],
) -> None:
    described = SCHEMA["resources"][f"holdfast:index:{component.__name__}"]
    model = arguments_model(component)
    assert_same_fields(model, described["inputProperties"], described["requiredInputs"])
    assert described["description"]
    assert all(output["description"] for output in described["properties"].values())


def assert_same_fields(
    model: type[BaseModel], properties: dict[str, Any], required: list[str]
) -> None:
    spelled = {info.alias or name: name for name, info in model.model_fields.items()}
    descriptions = field_descriptions(model)
    assert set(properties) == set(spelled)
    shapes = fields_of(model, IDENTIFYING)
    for name, described in properties.items():
        assert described["description"] == descriptions[spelled[name]], name
        assert described.get("plain", False) is is_plain(shapes[spelled[name]], IDENTIFYING), name
    assert set(required) == {
        name for name, field in spelled.items() if model.model_fields[field].is_required()
    }


def test_an_agent_takes_every_field_of_the_manifest() -> None:
    assert set(AgentSpec.model_fields) <= set(AgentInputs.model_fields)


def test_names_of_types_say_what_they_are_and_each_reference_resolves() -> None:
    def references(value: object) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return own + [ref for each in value.values() for ref in references(each)]
        if isinstance(value, list):
            return [ref for each in value for ref in references(each)]
        return []

    known = {f"#/types/{token}" for token in SCHEMA["types"]} | {"pulumi.json#/Any"}
    assert set(references(SCHEMA)) <= known
    assert "holdfast:index:Provider" not in SCHEMA["types"], "Pulumi keeps this name for itself"
    protocol = SCHEMA["types"]["holdfast:index:TracesProtocol"]
    assert [each["value"] for each in protocol["enum"]] == ["grpc", "http/protobuf"]
    entry = SCHEMA["types"]["holdfast:index:ConfigEntry"]["properties"]
    assert "from" in entry
    assert entry["data"]["additionalProperties"] == {"type": "string"}


TAKES_OUTPUTS = {
    "Agent": {"image", "namespace", "labels", "annotations", "owner"},
    "EnvVar": {"value", "valueFrom"},
    "LocalObjectReference": {"name"},
    "ServiceAccount": {"name", "annotations"},
    "StorageVolume": {"existingClaim", "storageClassName"},
    "SecretReference": {"ref", "key"},
    "Model": {"baseUrl"},
    "PodSettings": {"priorityClassName", "runtimeClassName"},
}
DECIDES_THE_SHAPE = {
    "Agent": {"type", "agentName"},
    "EnvVar": {"name"},
    "ServiceAccount": {"create"},
    "StorageVolume": {"name", "size", "accessModes", "retain"},
    "SecretReference": {"name", "provider"},
    "Scaling": {"replicas", "minReplicas"},
}


def plain_properties(name: str) -> set[str]:
    resource = SCHEMA["resources"].get(f"holdfast:index:{name}", {})
    properties = resource.get("inputProperties") or SCHEMA["types"][type_token(name)]["properties"]
    return {field for field, described in properties.items() if described.get("plain")}


@pytest.mark.parametrize(("name", "fields"), TAKES_OUTPUTS.items())
def test_what_rendering_only_carries_is_an_input(name: str, fields: set[str]) -> None:
    assert not fields & plain_properties(name)


@pytest.mark.parametrize(("name", "fields"), DECIDES_THE_SHAPE.items())
def test_what_decides_the_shape_is_plain(name: str, fields: set[str]) -> None:
    assert fields <= plain_properties(name)


def test_every_part_is_in_the_package_under_its_name_among_the_samples_and_exported() -> None:
    names = {component.__name__ for component in COMPONENTS}
    assert {part.__name__ for part in RenderedComponent.__subclasses__()} <= names
    assert names == set(samples("x")), "add the part to tests/component_samples.py"
    assert names <= exported(), "add the part to the imports of holdfast/__init__.py"
    assert {Record(model).name + "Args" for model in ARGUMENTS.values()} <= exported()
    for name in exported():
        assert getattr(holdfast, name).__name__ == name


def exported() -> set[str]:
    tree = ast.parse((ROOT / "infra/holdfast/__init__.py").read_text())
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    return {
        alias.asname
        for each in imports
        if str(each.module).startswith("holdfast")
        for alias in each.names
        if alias.asname
    }


def test_importing_holdfast_loads_neither_pulumi_nor_the_models() -> None:
    check = "import holdfast, sys; sys.exit('pulumi' in sys.modules or 'pydantic' in sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_what_holdfast_does_not_export_is_named() -> None:
    with pytest.raises(AttributeError, match="no attribute 'AgentMemory'"):
        _ = holdfast.AgentMemory  # type: ignore[attr-defined]  # that is what the test is about
