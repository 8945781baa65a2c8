"""From the OpenAPI v3 documents of an API server to a short notation of its types.

A field's notation is one of
    string · boolean · integer · number · quantity · int-or-string · duration · bytes · any
    core.v1.Container        a struct, by name in the table of types
    {string}  {string}!      a map of strings; with `!` an atomic one, written as a whole
    [string]  [string]set    an atomic list; a set
    [core.v1.Container]name  a list keyed by `name`; several keys are separated by commas
each after a `*` where the server keeps the difference between absent and zero. A struct that is
written as a whole has the extra field `!`; one that takes any other field has `*`.

Source: Kubernetes documentation, "Custom resource merge strategy" (x-kubernetes-list-type, …).
"""

from collections.abc import Mapping
from typing import Any

Types = dict[str, dict[str, str]]
"""Type name to field name to notation."""

_REFERENCE = "#/components/schemas/"
_SCALARS = {name: name for name in ("string", "boolean", "integer", "number")}
_NAMED_SCALARS = {
    "api.resource.Quantity": "quantity",
    "util.intstr.IntOrString": "int-or-string",
    "meta.v1.Time": "string",
    "meta.v1.MicroTime": "string",
    "meta.v1.Duration": "duration",
}
_FORMATS = {"duration": "duration", "byte": "bytes"}
_QUANTITY_PATTERN = "[KMGTPE]i"
"""Part of the pattern that controller-gen writes for every field of type Quantity."""


def kinds_of(document: Mapping[str, Any], api_version: str) -> dict[str, list[Any]]:
    """Kind to [plural, is namespaced, type name] for each kind that a document lets one list."""
    kinds: dict[str, list[Any]] = {}
    group, _, version = api_version.rpartition("/")
    root = f"/apis/{api_version}" if group else f"/api/{version}"
    for path, operations in document.get("paths", {}).items():
        listing = operations.get("get") or {}
        plural = path.rpartition("/")[2]
        if listing.get("x-kubernetes-action") != "list" or not path.startswith(root + "/"):
            continue
        kind = (listing.get("x-kubernetes-group-version-kind") or {}).get("kind")
        namespaced = path == f"{root}/namespaces/{{namespace}}/{plural}"
        if kind and (namespaced or path == f"{root}/{plural}"):
            known = kinds.get(kind, [plural, False])
            kinds[kind] = [plural, known[1] or namespaced]
    names = _type_names_of_kinds(document, group, version)
    return {kind: [*kinds[kind], names.get(kind, "")] for kind in sorted(kinds)}


def _type_names_of_kinds(document: Mapping[str, Any], group: str, version: str) -> dict[str, str]:
    names = {}
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        for served in schema.get("x-kubernetes-group-version-kind", ()):
            if served["group"] == group and served["version"] == version:
                names[served["kind"]] = short_name(name)
    return names


def short_name(name: str) -> str:
    """Last three parts of a name: `core.v1.Container` of `io.k8s.api.core.v1.Container`."""
    return ".".join(name.split(".")[-3:])


def types_of(document: Mapping[str, Any]) -> Types:
    """Notation of every type of an OpenAPI v3 document.

    Types that stand inside another one, as in custom resources, get the path as their name.
    """
    types: Types = {}
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        if schema.get("properties"):
            add_type(types, short_name(name), schema)
    return types


def add_type(types: Types, name: str, schema: Mapping[str, Any]) -> None:
    """Add one struct and the structs that stand inside it."""
    properties = schema["properties"]
    types[name] = {
        field: _notation(types, f"{name}.{field}", inner)
        for field, inner in properties.items()
        if not (field == "status" and "metadata" in properties)
    }
    if schema.get("x-kubernetes-map-type") == "atomic":
        types[name]["!"] = "any"
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        types[name]["*"] = "any"


def defaults_of(schema: Mapping[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Type name to field to default, for a schema that states real ones (custom resources)."""
    found: dict[str, dict[str, Any]] = {}
    for field, inner in schema.get("properties", {}).items():
        if "default" in inner:
            found.setdefault(name, {})[field] = inner["default"]
        for part in (inner, inner.get("items"), inner.get("additionalProperties")):
            if isinstance(part, Mapping):
                found.update(defaults_of(part, f"{name}.{field}"))
    return found


def _notation(types: Types, name: str, schema: Mapping[str, Any]) -> str:
    if schema.get("nullable"):
        return "*" + _notation(types, name, {**schema, "nullable": False})
    parts = schema.get("allOf", ())
    reference = schema.get("$ref") or (parts[0].get("$ref") if len(parts) == 1 else None)
    if reference:
        short = short_name(reference.removeprefix(_REFERENCE))
        return _NAMED_SCALARS.get(short, short)
    if schema.get("x-kubernetes-int-or-string"):
        is_quantity = _QUANTITY_PATTERN in str(schema.get("pattern", ""))
        return "quantity" if is_quantity else "int-or-string"
    compound = {"array": _list_notation, "object": _object_notation}.get(schema.get("type", ""))
    if compound is not None:
        return compound(types, name, schema)
    if schema.get("type") == "string" and schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    return _SCALARS.get(schema.get("type", ""), "any")


def _list_notation(types: Types, name: str, schema: Mapping[str, Any]) -> str:
    item = _notation(types, name, schema.get("items") or {})
    match schema.get("x-kubernetes-list-type"):
        case "map":
            return f"[{item}]{','.join(schema.get('x-kubernetes-list-map-keys') or ())}"
        case "set":
            return f"[{item}]set"
    return f"[{item}]"


def _object_notation(types: Types, name: str, schema: Mapping[str, Any]) -> str:
    if schema.get("properties"):
        add_type(types, name, schema)
        return name
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        atomic = "!" if schema.get("x-kubernetes-map-type") == "atomic" else ""
        return "{" + _notation(types, name, values) + "}" + atomic
    return "any"
