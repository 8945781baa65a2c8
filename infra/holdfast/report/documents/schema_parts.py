"""Parts of JSON Schemas (2020-12) of which the schemas of reports are made."""

from collections.abc import Mapping
from typing import Any, Final

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TEXT: Final = {"type": "string"}
COUNT: Final = {"type": "integer", "minimum": 0}


def kube_object() -> dict[str, Any]:
    """Reference to an object of a cluster."""
    return closed(apiVersion=TEXT, kind=TEXT, namespace=TEXT, name=TEXT)


def described(description: str) -> dict[str, Any]:
    """A text."""
    return {**TEXT, "description": description}


def listed(description: str, items: dict[str, Any]) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "description": description, "items": items}


def closed(
    _optional: Mapping[str, Any] | None = None,
    **required: Any,  # noqa: ANN401  (JSON Schema)
) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**required, **(_optional or {})},
    }
