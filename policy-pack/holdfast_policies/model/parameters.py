"""Checking a parameter's value against its schema: the small part of JSON Schema that rules use."""

import json
import re
from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "array": list,
}


def fault_of(value: object, schema: Mapping[str, Any]) -> str:
    """What is wrong with a value, in one phrase; empty when nothing is.

    Args:
        value: Plain JSON value; integral floats count as integers, as the engine sends them.
        schema: `type` and, where wanted, `enum`, `pattern`, `items`, `minItems`.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    expected = schema["type"]
    if not isinstance(value, _TYPES[expected]) or (
        expected == "integer" and isinstance(value, bool)
    ):
        return f"expected {_article(expected)}, got {json.dumps(value, default=str)}"
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(json.dumps(each) for each in schema["enum"])
        return f"expected one of {allowed}, got {json.dumps(value)}"
    if "pattern" in schema and re.fullmatch(schema["pattern"], str(value)) is None:
        return f"expected text such as {schema['examples'][0]!r}, got {json.dumps(value)}"
    return _list_fault(value, schema) if isinstance(value, list) else ""


def _list_fault(values: list[Any], schema: Mapping[str, Any]) -> str:
    if len(values) < schema.get("minItems", 0):
        return "an empty list would allow nothing: list what is allowed, or disable the rule"
    for index, value in enumerate(values):
        fault = fault_of(value, schema["items"]) if "items" in schema else ""
        if fault:
            return f"item {index}: {fault}"
    return ""


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
