"""The schema of the package `holdfast`, from which Pulumi makes SDKs and checks YAML programs.

Derived from the same models as the typed dictionaries, so that every language has the same fields,
the same choices and the same documentation. Written here rather than inferred by Pulumi's own
analyzer of Python classes, which knows neither choices nor alternatives.

The format is Pulumi's package schema (https://www.pulumi.com/docs/iac/guides/building-extending/
packages/schema/).
"""

import inspect
import json
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast, get_args, get_origin

import pulumi
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from holdfast import __version__
from holdfast.components.argument_types import ARGUMENTS, IDENTIFYING
from holdfast.components.references import DeployedObject
from holdfast.components.type_expressions import (
    Alternatives,
    Anything,
    Choice,
    ListOf,
    MapOf,
    Record,
    Scalar,
    TypeExpression,
    fields_of,
    forms_in,
    is_plain,
    records_below,
    shape_of,
)
from holdfast.manifest.publish.json_schema import field_descriptions

PACKAGE = "holdfast"
Schema = dict[str, Any]
_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_RENAMED = {"Provider": "ProviderPart"}
_LANGUAGES = ("nodejs", "python", "csharp", "java", "go")


def package_schema(components: Iterable[type[pulumi.ComponentResource]]) -> Schema:
    """The whole schema of the package.

    Law: names of types are unique; equal models give equal text.
    """
    resources = {f"{PACKAGE}:index:{each.__name__}": _resource(each) for each in components}
    found: dict[str, Schema] = {type_token(DeployedObject.__name__): _deployed_object()}
    for model in ARGUMENTS.values():
        for record in records_below(model):
            found |= _types_of(record.model, record.name)
        found |= _choices_of(model, _component_of(model))
    return {
        "name": PACKAGE,
        "displayName": "Holdfast",
        "version": __version__,
        "namespace": PACKAGE,
        "description": "AI agents on Kubernetes: typed parts, secure by default.",
        "license": "Apache-2.0",
        "keywords": ["kubernetes", "agents", "category/infrastructure", "kind/component"],
        "language": {language: {"respectSchemaVersion": True} for language in _LANGUAGES},
        "types": dict(sorted(found.items())),
        "resources": dict(sorted(resources.items())),
    }


def schema_text(schema: Schema) -> str:
    """A schema as it is published, to the byte."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def arguments_model(component: type[pulumi.ComponentResource]) -> type[BaseModel]:
    """The model that validates a component's arguments, by the type its constructor names."""
    return ARGUMENTS[inspect.get_annotations(component.__init__)["args"].__name__]


def output_name(attribute: str) -> str:
    """An output of a component as other languages spell it."""
    return re.sub(r"_(\w)", lambda found: found[1].upper(), attribute)


def _resource(component: type[pulumi.ComponentResource]) -> Schema:
    model = arguments_model(component)
    outputs = {
        name: get_args(annotation)[0]
        for name, annotation in inspect.get_annotations(component).items()
    }
    descriptions = field_descriptions(cast("type", component))
    return {
        "isComponent": True,
        "description": inspect.getdoc(component),
        "inputProperties": _properties(model, _component_of(model)),
        "requiredInputs": _required(model),
        "type": "object",
        "properties": {
            output_name(name): _output(annotation) | {"description": descriptions[name]}
            for name, annotation in outputs.items()
        },
        "required": sorted(
            output_name(name)
            for name, annotation in outputs.items()
            if types.NoneType not in get_args(annotation)
        ),
    }


def _output(annotation: Any) -> Schema:  # noqa: ANN401 - any annotation
    if DeployedObject in {annotation, *get_args(annotation)}:
        reference = {"$ref": f"#/types/{type_token(DeployedObject.__name__)}"}
        is_list = get_origin(annotation) is Sequence
        return {"type": "array", "items": reference} if is_list else reference
    return _typed(shape_of(annotation), "", is_output=True)


def _deployed_object() -> Schema:
    descriptions = field_descriptions(cast("type", DeployedObject))
    return {
        "type": "object",
        "description": inspect.getdoc(DeployedObject),
        "properties": {
            name: {"type": "string", "description": description}
            for name, description in descriptions.items()
        },
        "required": sorted(descriptions),
    }


def _component_of(model: type[BaseModel]) -> str:
    return Record(model).name


def _types_of(model: type[BaseModel], name: str) -> dict[str, Schema]:
    """The type of a part, and those of the choices that its fields offer."""
    record = {
        "type": "object",
        "description": inspect.getdoc(model),
        "properties": _properties(model, name),
        "required": _required(model),
    }
    return {type_token(name): record} | _choices_of(model, name)


def _choices_of(model: type[BaseModel], owner: str) -> dict[str, Schema]:
    descriptions = field_descriptions(model)
    return {
        type_token(owner + _pascal(field)): {
            "type": "string",
            "description": descriptions[field],
            "enum": [{"value": value, "name": _pascal(value)} for value in choice.values],
        }
        for field, info in model.model_fields.items()
        for choice in forms_in(shape_of(info.annotation))
        if isinstance(choice, Choice)
    }


def _properties(model: type[BaseModel], owner: str) -> dict[str, Schema]:
    descriptions = field_descriptions(model)
    shapes = fields_of(model, IDENTIFYING)
    return {
        _spelled(field, info): _typed(shapes[field], owner + _pascal(field))
        | {"description": descriptions[field]}
        for field, info in model.model_fields.items()
    }


def _required(model: type[BaseModel]) -> list[str]:
    fields: Mapping[str, FieldInfo] = model.model_fields
    return sorted(_spelled(name, info) for name, info in fields.items() if info.is_required())


def _typed(  # noqa: PLR0911 - one return a form
    shape: TypeExpression, choice: str, *, is_output: bool = False
) -> Schema:
    """A type of the schema; plain where a value decides what is rendered."""
    is_known = not is_output and is_plain(shape, IDENTIFYING)
    plain: Schema = {"plain": True} if is_known else {}
    match shape:
        case Scalar(kind):
            return {"type": _SCALARS[kind]} | plain
        case Anything():
            return {"$ref": "pulumi.json#/Any"} | plain
        case Choice():
            return {"$ref": f"#/types/{type_token(choice)}"} | plain
        case ListOf(item):
            return {"type": "array", "items": _typed(item, choice, is_output=is_output)} | plain
        case MapOf(value):
            values = _typed(value, choice, is_output=is_output)
            return {"type": "object", "additionalProperties": values} | plain
        case Record():
            return {"$ref": f"#/types/{type_token(shape.name)}"} | plain
        case Alternatives(forms):
            return {"oneOf": [_typed(each, choice, is_output=is_output) for each in forms]} | plain


def type_token(name: str) -> str:
    """Token of a type by the name of its part; Pulumi keeps one name for itself."""
    return f"{PACKAGE}:index:{_RENAMED.get(name, name)}"


def _spelled(field: str, info: FieldInfo) -> str:
    return info.alias or field


def _pascal(text: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", text))
