"""Pages of a LIST and lines of a WATCH, decoded only as far as somebody needs them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from holdfast.kube.objects import KubeObject

RawObject = dict[str, msgspec.Raw]
"""An object of which only the names of its uppermost fields are decoded."""


class ListMeta(msgspec.Struct, rename="camel"):
    """Metadata of a page."""

    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None
    resource_version: str = ""


class Page(msgspec.Struct):
    """One page of a LIST."""

    metadata: ListMeta
    items: list[RawObject] | None = None


class Head(msgspec.Struct, rename="camel"):
    """What tells one object, and one version of it, from another."""

    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class WatchLine(msgspec.Struct):
    """One event of a WATCH: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    type: str
    object: RawObject


decode_page: Final = msgspec.json.Decoder(Page).decode
decode_head: Final = msgspec.json.Decoder(Head).decode
decode_line: Final = msgspec.json.Decoder(WatchLine).decode
decode_raw: Final = msgspec.json.Decoder(RawObject).decode


def decode_object(
    fields: RawObject, api_version: str, kind: str, *, keeps_status: bool = False
) -> KubeObject:
    """One object, its managed fields still raw; without status unless that is asked for."""
    left_out = {"apiVersion", "kind"} if keeps_status else {"status", "apiVersion", "kind"}
    one: KubeObject = {"apiVersion": api_version, "kind": kind}
    for key, raw in fields.items():
        if key == "metadata":
            one["metadata"] = decode_metadata(decode_raw(raw))
        elif key not in left_out:
            one[key] = msgspec.json.decode(raw)
    return one


def decode_metadata(fields: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    """Metadata whose managed fields are left as raw JSON."""
    return {
        # Bytes of its own: a part of the page would keep the whole page in memory.
        name: msgspec.Raw(bytes(value)) if name == "managedFields" else msgspec.json.decode(value)
        for name, value in fields.items()
    }
