"""Properties as a stack's state records them, JSON, taken apart into plain data.

The signatures are those of the engine's requests. What is a secret is encrypted there, so that its
value is not known; where it stands in plain text (`--show-secrets`) rules compare it and no message
shows it.
"""

import json
from typing import Any

from holdfast_policies.decode.properties import (
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    SIGNATURES_OF_FILES,
    UNKNOWN_TEXTS,
)
from holdfast_policies.decode.secret import as_secret
from holdfast_policies.decode.unknown import PartlyKnownDict, PartlyKnownList, Unknown
from holdfast_policies.model.subject import item_path


def decode_recorded(properties: object) -> dict[str, Any]:
    """Inputs or outputs of one resource of a state; notes of the provider's own left out.

    Args:
        properties: Parsed JSON; anything but a mapping says nothing.
    """
    if not isinstance(properties, dict):
        return {}
    shown = {key: value for key, value in properties.items() if not key.startswith("__")}
    decoded = _mapping(shown, "")
    assert isinstance(decoded, dict)  # noqa: S101  # a mapping without a signature stays one
    return decoded


def _decoded(value: Any, path: str) -> Any:  # noqa: ANN401  # any JSON value
    if isinstance(value, str):
        return Unknown(path) if value in UNKNOWN_TEXTS else value
    if isinstance(value, dict):
        return _signed(value, path) if SIGNATURE_KEY in value else _mapping(value, path)
    if isinstance(value, list):
        return _list(value, path)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _mapping(value: dict[str, Any], path: str) -> dict[str, Any]:
    decoded = {key: _decoded(item, f"{path}.{key}" if path else key) for key, item in value.items()}
    is_partly_known = any(type(item) is Unknown for item in decoded.values())
    return PartlyKnownDict(decoded) if is_partly_known else decoded


def _list(values: list[Any], path: str) -> list[Any]:
    decoded = [_decoded(item, item_path(path, index, item)) for index, item in enumerate(values)]
    is_partly_known = any(type(item) is Unknown for item in decoded)
    return PartlyKnownList(decoded) if is_partly_known else decoded


def _signed(value: dict[str, Any], path: str) -> Any:  # noqa: ANN401  # any JSON value
    signature = value[SIGNATURE_KEY]
    if signature == SECRET_SIGNATURE and isinstance(value.get("plaintext"), str):
        try:
            return as_secret(_decoded(json.loads(value["plaintext"]), path))
        except ValueError:
            return Unknown(path)
    return {} if signature in SIGNATURES_OF_FILES else Unknown(path)
