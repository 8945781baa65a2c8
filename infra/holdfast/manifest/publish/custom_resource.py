"""Agents and what they share as kinds of a cluster: CustomResourceDefinitions from the models.

A structural schema says less than the models do: it knows no references, no choice between shapes
and few rules between fields. What it cannot say is left open, and `holdfast validate` decides.

Source: Kubernetes documentation, "Extend the Kubernetes API with CustomResourceDefinitions",
structural schemas.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from holdfast.kube.objects import KubeObject
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.json_schema import Schema, manifest_schema
from holdfast.manifest.publish.resource_interface import (
    AGENT_STACK_KIND,
    AGENT_STACK_SPEC,
    COLUMNS,
    SHORT_NAMES,
    STACK_DECLARATION_KIND,
    STACK_DECLARATION_SPEC,
    STATUS,
    SUBRESOURCES,
)
from holdfast.manifest.types.annotations import models_below
from holdfast.manifest.types.conditions import cel, fields_in, schema, written_as
from holdfast.manifest.types.manifest import API_VERSION, Metadata
from holdfast.manifest.types.rules import Computed, Rule, rules_of, unique_fields

_KEPT: Final = frozenset(
    {
        "description",
        "enum",
        "format",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "pattern",
        "required",
        "type",
    }
)
_ANYTHING: Final[Schema] = {"x-kubernetes-preserve-unknown-fields": True}


def custom_resource_definitions() -> list[KubeObject]:
    """One CustomResourceDefinition a kind; `apiextensions.k8s.io/v1`.

    The kinds of manifests are namespaced. AgentStack, which only a loop writes, and
    StackDeclaration, which only updates write, are not: rights in the agents' namespaces do not
    reach them.
    """
    definitions = manifest_schema()["$defs"]
    kinds = [_manifest_kind(kind, model.__name__, definitions) for kind, model in KINDS.items()]
    description = "A stack that a loop holds to a branch."
    stack = _root(AGENT_STACK_KIND, description, AGENT_STACK_SPEC)
    declared = _root(
        STACK_DECLARATION_KIND,
        "What the last update of a stack has declared: all that its operator believes.",
        STACK_DECLARATION_SPEC,
    )
    return [
        *kinds,
        _definition(AGENT_STACK_KIND, stack, "Cluster"),
        _definition(STACK_DECLARATION_KIND, declared, "Cluster"),
    ]


def plural_of(kind: str) -> str:
    """Name of a kind in URLs."""
    return kind.lower() if kind.endswith("s") else f"{kind.lower()}s"


def _manifest_kind(kind: str, model: str, definitions: dict[str, Schema]) -> KubeObject:
    spec = _structural(definitions[model]["properties"]["spec"], definitions)
    root = _root(kind, definitions[model]["description"], spec)
    name = _structural(definitions[Metadata.__name__]["properties"]["name"], definitions)
    root["properties"]["metadata"] = {"type": "object", "properties": {"name": name}}
    return _definition(kind, _with_rules(root, KINDS[kind]), "Namespaced")


def _root(kind: str, description: str, spec: Schema) -> Schema:
    return {
        "type": "object",
        "description": description,
        "required": ["spec"],
        "properties": {"spec": spec, "status": _status(kind)},
    }


def _definition(kind: str, root: Schema, scope: str) -> KubeObject:
    group, version = API_VERSION.split("/")
    plural = plural_of(kind)
    served: KubeObject = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": root},
        "subresources": SUBRESOURCES.get(kind, {"status": {}}),
    }
    if kind in COLUMNS:
        served["additionalPrinterColumns"] = list(COLUMNS[kind])
    names: KubeObject = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
        "categories": ["holdfast"],
    }
    if kind in SHORT_NAMES:
        names["shortNames"] = SHORT_NAMES[kind]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": scope, "names": names, "versions": [served]},
    }


def _status(kind: str) -> Schema:
    if kind not in STATUS:
        return {"type": "object", **_ANYTHING}
    return {"type": "object", "description": "What was observed.", "properties": STATUS[kind]}


def _structural(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """A schema as the API server takes it: references written out, choices left open."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        target = definitions[name] | {k: v for k, v in schema.items() if k != "$ref"}
        # A part of a change, in which everything may be left out, has no rules.
        model = _models().get(name)
        found = _structural(target, definitions)
        return found if model is None else _with_rules(found, model)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return _chosen(schema, choices, definitions)
    result: Schema = {key: value for key, value in schema.items() if key in _KEPT}
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.capitalize()}"
        if exclusive in schema:
            # OpenAPI 3.0, which the API server speaks, has a word beside the bound for it.
            result |= {bound: schema[exclusive], exclusive: True}
    if stated := [_choice(each) for each in schema.get("allOf", ()) if "oneOf" in each]:
        # The other rules are published in CEL, whose messages say what is wrong.
        result["allOf"] = stated
    if "const" in schema:
        kind = "boolean" if isinstance(schema["const"], bool) else "string"
        result |= {"type": kind, "enum": [schema["const"]]}
    if "properties" in schema:
        result["properties"] = {
            name: _structural(each, definitions) for name, each in schema["properties"].items()
        }
    elif schema.get("type") == "object":
        values = schema.get("additionalProperties")
        if isinstance(values, dict) and values:
            result["additionalProperties"] = _structural(values, definitions)
        else:
            result |= _ANYTHING
    if "items" in schema:
        result["items"] = _structural(schema["items"], definitions)
    return result if "type" in result else result | _ANYTHING


@cache
def _models() -> dict[str, type[BaseModel]]:
    return {model.__name__: model for model in models_below(KINDS.values())}


def _with_rules(place: Schema, model: type[BaseModel]) -> Schema:
    """A part's schema with the rules between its fields, and the lists whose items differ."""
    validations: list[Schema] = []
    stated: list[Schema] = list(place.get("allOf", ()))
    for rule in rules_of(model):
        if not isinstance(rule, Rule):
            continue
        if isinstance(rule.holds, Computed):
            text = rule.holds.cel
        elif all(_is_typed(place, written_as(model, field)) for field in fields_in(rule.holds)):
            text = cel(rule.holds, model)
        else:
            # CEL sees no field that may be of several types; whether it is there can be said.
            said = schema(rule.holds, model, with_null=False)
            stated += [said] if said is not None else []
            continue
        if text:
            validations.append({"rule": text, "message": _message(rule)} | _field_path(rule, model))
    for name, mark in unique_fields(model):
        [alias] = written_as(model, name)
        if mark.key:
            of_list = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [mark.key]}
            place["properties"][alias] |= of_list
    place |= {"x-kubernetes-validations": validations} if validations else {}
    return place | ({"allOf": stated} if stated else {})


def _message(rule: Rule) -> str:
    return f"{rule.expected}; {rule.remedy}" if rule.remedy else rule.expected


def _field_path(rule: Rule, model: type[BaseModel]) -> Schema:
    path = "".join(f".{each}" for each in written_as(model, rule.at)) if rule.at else ""
    return {"fieldPath": path} if path else {}


def _is_typed(place: Schema, path: Sequence[str]) -> bool:
    """Whether CEL can read a field."""
    for name in path:
        place = place.get("properties", {}).get(name, {})
    for below in ("items", "additionalProperties"):
        if below in place:
            return _is_typed(place[below], ())
    return "type" in place or "x-kubernetes-int-or-string" in place


def _choice(choice: Schema) -> Schema:
    """Fields that exclude each other; a null, which no structural schema can name, is given."""
    alternatives = []
    for each in choice["oneOf"]:
        if "required" not in each:
            required = [{"required": other["required"]} for other in choice["oneOf"][:-1]]
            alternatives.append({"not": {"anyOf": required}})
            continue
        given = {name: rule for name, rule in each["properties"].items() if "not" not in rule}
        properties = {"properties": given} if given else {}
        alternatives.append({"required": each["required"], **properties})
    return {"oneOf": alternatives}


def _chosen(schema: Schema, choices: list[Any], definitions: dict[str, Schema]) -> Schema:
    described = {"description": schema["description"]} if "description" in schema else {}
    others = [each for each in choices if each.get("type") != "null"]
    if len(others) == 1:
        # No null is declared: the API server drops it, so that it is absence, as in files.
        return _structural(others[0], definitions) | described
    if {each.get("type") for each in others} == {"integer", "string"}:
        return {"x-kubernetes-int-or-string": True} | described
    return _ANYTHING | described
