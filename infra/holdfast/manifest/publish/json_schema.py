"""The JSON Schema of manifests and stack files, for editors: derived from the models alone.

It says what can be said about one value at a time; `holdfast validate` decides.
"""

import ast
import copy
import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.kinds.mcp_server import McpServerSpec
from holdfast.manifest.kinds.team import AgentTeamSpec
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.stack_files import NAMESPACE, PULUMI_KEYS
from holdfast.manifest.types.annotations import models_below
from holdfast.manifest.types.manifest import API_VERSION

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_CHANGE = "Change"


def manifest_schema() -> Schema:
    """Schema of one manifest: the fields that may stand in it depend on its kind."""
    branches = [
        {
            "if": {"properties": {"kind": {"const": kind}}},
            "then": {"$ref": f"#/$defs/{model.__name__}"},
        }
        for kind, model in KINDS.items()
    ]
    definitions = _definitions(KINDS.values())
    # A team's defaults are part of a spec: nothing in them is required.
    changes = _changes()
    defaults = definitions[AgentTeamSpec.__name__]["properties"]["defaults"]
    defaults.pop("additionalProperties", None)
    defaults["$ref"] = f"#/$defs/{AgentSpec.__name__}{_CHANGE}"
    return {
        "$schema": DIALECT,
        "title": "Holdfast manifest",
        "description": "An agent, or what agents share: a team, a model, a tool server, a waiver.",
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": {"apiVersion": {"const": API_VERSION}, "kind": {"enum": list(KINDS)}},
        "allOf": branches,
        "$defs": dict(sorted((definitions | changes).items())),
    }


def stack_schema() -> Schema:
    """Schema of a stack file; what other providers and Pulumi itself keep there is left alone."""
    settings = _definitions([Environment])
    changes = _changes()
    environment = settings.pop(Environment.__name__)
    environment["properties"]["agents"]["additionalProperties"] = {
        "anyOf": [
            {"$ref": f"#/$defs/{model.__name__}{_CHANGE}"} for model in (AgentSpec, McpServerSpec)
        ]
    }
    ours = {NAMESPACE + name: each for name, each in environment["properties"].items()}
    pulumi_keys = sorted(PULUMI_KEYS - {"config"})
    return {
        "$schema": DIALECT,
        "title": "Holdfast stack file",
        "description": inspect.getdoc(Environment),
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "config": {
                "type": "object",
                "description": f"Settings; those under {NAMESPACE} are Holdfast's.",
                "properties": ours,
                "patternProperties": {f"^(?!{NAMESPACE})[^:]+:": {}},
                "additionalProperties": False,
            },
            **{key: {"description": "Pulumi's own."} for key in pulumi_keys},
        },
        "$defs": dict(sorted((settings | changes).items())),
    }


def _changes() -> dict[str, Schema]:
    """Definitions of a part of a spec, as overrides and a team's defaults have it."""
    spec = _definitions([AgentSpec, McpServerSpec])
    return {f"{name}{_CHANGE}": _as_change(each) for name, each in spec.items()}


def _definitions(models: Iterable[type[BaseModel]]) -> dict[str, Schema]:
    roots = list(models)
    for model in models_below(roots):
        # Before pydantic 2.14, a part that is a default cannot be written down until it is built.
        model.model_rebuild()
    _, schema = models_json_schema([(model, "validation") for model in roots])
    definitions: dict[str, Schema] = schema["$defs"]
    for place in _places(definitions):
        if patterns := place.pop("patternProperties", None):
            # Keys that do not match are refused, not merely left alone.
            [(pattern, place["additionalProperties"])] = patterns.items()
            place["propertyNames"] = place.get("propertyNames", {}) | {"pattern": pattern}
    for model in models_below(roots):
        definition = definitions[model.__name__]
        definition["description"] = inspect.getdoc(model)
        descriptions = field_descriptions(model)
        for name, field in model.model_fields.items():
            place = definition["properties"][field.alias or name]
            place["description"] = descriptions[name]
            place.pop("title", None)
            # A default that is a whole part says nothing which its own fields do not say.
            if isinstance(place.get("default"), dict | list | None):
                place.pop("default", None)
    return definitions


@cache
def field_descriptions(documented: type) -> Mapping[str, str]:
    """Field to the docstring below it, inherited fields of other classes of ours included."""
    found: dict[str, str] = {}
    own_package = __name__.partition(".")[0]
    for parent in reversed(documented.__mro__):
        if parent.__module__.partition(".")[0] == own_package:
            found |= _docstrings(ast.parse(dedent(inspect.getsource(parent))).body[0])
    return found


def _docstrings(definition: ast.stmt) -> dict[str, str]:
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _as_change(definition: Schema) -> Schema:
    """A definition for overrides: nothing is required, everything may be null (removed)."""
    change = copy.deepcopy(definition)
    change.pop("required", None)
    # Half of a choice may be written here, and the other half below.
    change.pop("allOf", None)
    for place in _places(change):
        if "$ref" in place:
            place["$ref"] += _CHANGE
        if "oneOf" in place:
            # Without required fields, more than one shape may fit.
            place["anyOf"] = place.pop("oneOf")
    for name, place in change.get("properties", {}).items():
        place.pop("default", None)
        description = place.pop("description")
        options = place.pop("anyOf", None) or [place]
        if {"type": "null"} not in options:
            options = [*options, {"type": "null"}]
        change["properties"][name] = {"anyOf": options, "description": description}
    return change


def _places(schema: object) -> Iterator[Schema]:
    """Every mapping in a schema, outer ones first."""
    if isinstance(schema, dict):
        yield schema
        for value in list(schema.values()):
            yield from _places(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _places(value)
