"""The engine's encoding of properties, taken apart into plain data.

Properties arrive as a protobuf Struct: every number a float, secrets and assets as maps marked by
a signature, unknown values as reserved texts. What has a signature that is not known here is
unknown: it must not be taken for an ordinary map.

Source: pulumi/pulumi, sdk/go/common/resource/properties.go and resource/plugin/rpc.go.
"""

from collections.abc import Callable, Mapping
from typing import Any

from holdfast_policies.decode.secret import as_secret
from holdfast_policies.decode.unknown import (
    PartlyKnownDict,
    PartlyKnownList,
    Unknown,
    raw_items,
)
from holdfast_policies.model.subject import item_path

SIGNATURE_KEY = "4dabf18193072939515e22adb298388d"
SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  # a signature, not a secret
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_ASSET = "c44067f5952c0a294b673a41bacd8c17"
_ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7"
SIGNATURES_OF_FILES = frozenset({_ASSET, _ARCHIVE})

UNKNOWN_TEXTS = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # text
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # list
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # map
    }
)


def decode_properties(struct: Any) -> dict[str, Any]:  # noqa: ANN401  # protobuf has no types here
    """Properties of one resource as plain data.

    Integral numbers become ints, secrets their values with every text a `SecretText`, unknown
    values `Unknown` with their paths.

    Args:
        struct: A `google.protobuf.Struct`.
    """
    unknowns: list[Unknown] = []
    properties = _mapping(struct, unknowns)
    if unknowns:
        _place(properties, "")
    return properties


def _mapping(struct: Any, unknowns: list[Unknown]) -> dict[str, Any]:  # noqa: ANN401  # as above
    before = len(unknowns)
    fields = struct.fields
    values: dict[str, Any] = {}
    for key in fields:  # not items(): protobuf's maps make pairs one by one, in Python
        value = fields[key]
        kind = value.WhichOneof("kind")
        if kind == "string_value":  # most of all are, and a call costs as much as reading one
            text = value.string_value
            values[key] = _unknown(unknowns) if text in UNKNOWN_TEXTS else text
        else:
            values[key] = _READERS[kind](value, unknowns)
    if len(unknowns) > before and any(type(value) is Unknown for value in values.values()):
        return PartlyKnownDict(values)
    return values


def _value(value: Any, unknowns: list[Unknown]) -> Any:  # noqa: ANN401  # as above
    return _READERS[value.WhichOneof("kind")](value, unknowns)


def _text(value: Any, unknowns: list[Unknown]) -> Any:  # noqa: ANN401  # as above
    text = value.string_value
    return _unknown(unknowns) if text in UNKNOWN_TEXTS else text


def _struct(value: Any, unknowns: list[Unknown]) -> Any:  # noqa: ANN401  # as above
    struct = value.struct_value
    if SIGNATURE_KEY in struct.fields:
        return _signed(struct.fields, unknowns)
    return _mapping(struct, unknowns)


def _number(value: Any, _: list[Unknown]) -> float:  # noqa: ANN401  # as above
    number: float = value.number_value
    return int(number) if number.is_integer() else number


def _flag(value: Any, _: list[Unknown]) -> Any:  # noqa: ANN401  # as above
    return value.bool_value


def _nothing(_: Any, __: list[Unknown]) -> None:  # noqa: ANN401  # as above
    return None


def _list(value: Any, unknowns: list[Unknown]) -> list[Any]:  # noqa: ANN401  # as above
    before = len(unknowns)
    decoded = [_value(item, unknowns) for item in value.list_value.values]
    if len(unknowns) > before and any(type(value) is Unknown for value in decoded):
        return PartlyKnownList(decoded)
    return decoded


_READERS: dict[str | None, Callable[[Any, list[Unknown]], Any]] = {
    "string_value": _text,
    "struct_value": _struct,
    "list_value": _list,
    "number_value": _number,
    "bool_value": _flag,
    "null_value": _nothing,
    None: _nothing,
}


def _signed(fields: Mapping[str, Any], unknowns: list[Unknown]) -> Any:  # noqa: ANN401  # as above
    signature = fields[SIGNATURE_KEY].string_value
    if signature in (SECRET_SIGNATURE, _OUTPUT) and "value" in fields:
        return as_secret(_value(fields["value"], unknowns))
    if signature in SIGNATURES_OF_FILES:
        return {}
    return _unknown(unknowns)


def _unknown(unknowns: list[Unknown]) -> Unknown:
    value = Unknown()
    unknowns.append(value)
    return value


def _place(value: Any, path: str) -> None:  # noqa: ANN401  # any JSON value
    """Tell every unknown value where it stands."""
    if type(value) is Unknown:
        object.__setattr__(value, "path", path)
    elif isinstance(value, dict):
        for key, item in dict.items(value):
            _place(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(raw_items(value)):
            _place(
                item, f"{path}[{index}]" if type(item) is Unknown else item_path(path, index, item)
            )
