"""Edits applied to properties as the engine encodes them.

All else stays as it came, marks of secrets among it.
"""

from collections.abc import Iterable
from typing import Any

from google.protobuf import json_format, struct_pb2

from holdfast_policies.decode.properties import SIGNATURE_KEY
from holdfast_policies.model.edit import Edit


def patched(properties: Any, edits: Iterable[Edit]) -> Any:  # noqa: ANN401  # no types here
    """A copy of properties with the edits; those that are secret stay so.

    Args:
        properties: A `google.protobuf.Struct`.
        edits: Such that `with_edits` has applied them to the decoded properties.
    """
    copy = struct_pb2.Struct()
    copy.CopyFrom(properties)
    for edit in edits:
        holder = struct_pb2.Value(struct_value=copy)
        place = holder
        for step in edit.steps:
            place = _entry(place, step)
        json_format.ParseDict(edit.value, place)
        copy = holder.struct_value
    return copy


def _entry(value: Any, step: str | int) -> Any:  # noqa: ANN401  # as above
    """The value of an entry, made where it is absent; within what is secret, that of the secret."""
    value = _unwrapped(value)
    if isinstance(step, int):
        return value.list_value.values[step]
    return value.struct_value.fields[step]


def _unwrapped(value: Any) -> Any:  # noqa: ANN401  # as above
    fields = value.struct_value.fields if value.WhichOneof("kind") == "struct_value" else {}
    return _unwrapped(fields["value"]) if SIGNATURE_KEY in fields else value
