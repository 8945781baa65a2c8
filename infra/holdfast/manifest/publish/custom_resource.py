"""Agents and what they share as kinds of a cluster: CustomResourceDefinitions from the models.

A structural schema says less than the models do: it knows no references, no choice between shapes
and few rules between fields. What it cannot say is left open, and `holdfast validate` decides.

Source: Kubernetes documentation, "Extend the Kubernetes API with CustomResourceDefinitions",
structural schemas.
"""

from typing import Any, Final

from holdfast.kube.objects import KubeObject
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.json_schema import Schema, manifest_schema
from holdfast.manifest.publish.resource_interface import (
    AGENT_STACK_KIND,
    AGENT_STACK_SPEC,
    COLUMNS,
    RULES,
    SHORT_NAMES,
    STATUS,
    SUBRESOURCES,
)
from holdfast.manifest.types.manifest import API_VERSION

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

    The kinds of manifests are namespaced. AgentStack, which only a loop writes, is not: it can be
    told of before the first namespace is there.
    """
    definitions = manifest_schema()["$defs"]
    kinds = [_manifest_kind(kind, model.__name__, definitions) for kind, model in KINDS.items()]
    description = "A stack that a loop holds to a branch."
    stack = _root(AGENT_STACK_KIND, description, AGENT_STACK_SPEC)
    return [*kinds, _definition(AGENT_STACK_KIND, stack, "Cluster")]


def plural_of(kind: str) -> str:
    """Name of a kind in URLs."""
    return kind.lower() if kind.endswith("s") else f"{kind.lower()}s"


def _manifest_kind(kind: str, model: str, definitions: dict[str, Schema]) -> KubeObject:
    spec = _structural(definitions[model]["properties"]["spec"], definitions)
    return _definition(kind, _root(kind, definitions[model]["description"], spec), "Namespaced")


def _root(kind: str, description: str, spec: Schema) -> Schema:
    root: Schema = {
        "type": "object",
        "description": description,
        "required": ["spec"],
        "properties": {"spec": spec, "status": _status(kind)},
    }
    return root | ({"x-kubernetes-validations": list(RULES[kind])} if kind in RULES else {})


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
        target = definitions[schema["$ref"].rpartition("/")[2]]
        return _structural(target | {k: v for k, v in schema.items() if k != "$ref"}, definitions)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return _chosen(schema, choices, definitions)
    result: Schema = {key: value for key, value in schema.items() if key in _KEPT}
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.capitalize()}"
        if exclusive in schema:
            # OpenAPI 3.0, which the API server speaks, has a word beside the bound for it.
            result |= {bound: schema[exclusive], exclusive: True}
    if "allOf" in schema:
        result["allOf"] = [_choice(each) for each in schema["allOf"]]
    if "const" in schema:
        result |= {"type": "string", "enum": [schema["const"]]}
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
        is_nullable = {"nullable": True} if len(others) < len(choices) else {}
        return _structural(others[0], definitions) | described | is_nullable
    if {each.get("type") for each in others} == {"integer", "string"}:
        return {"x-kubernetes-int-or-string": True} | described
    return _ANYTHING | described
