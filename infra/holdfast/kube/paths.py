"""Field paths: where in an object something is, in a form that people and machines read alike.

`spec.containers[name=agent].ports[containerPort=80,protocol=TCP].name`, `rules[1].verbs`,
`metadata.labels["app.kubernetes.io/name"]`: fields are dotted, items of keyed lists are named by
their merge keys, items of other lists by index, and field names with dots stand quoted in brackets.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.kube.objects import KubeObject


@dataclass(frozen=True, slots=True)
class ItemKey:
    """Chooses the item of a keyed list whose fields have these values.

    Attributes:
        pairs: Merge key and value, in the order of the list's merge keys.
    """

    pairs: tuple[tuple[str, Any], ...]

    def selects(self, item: Any) -> bool:  # noqa: ANN401  (any JSON value may stand in a list)
        """Whether an item is the one; a key that a default would fill may be absent."""
        return isinstance(item, Mapping) and all(
            item.get(key, value) == value for key, value in self.pairs
        )

    def __str__(self) -> str:
        return "[" + ",".join(f"{key}={_text(value)}" for key, value in self.pairs) + "]"


Segment = str | int | ItemKey
Path = tuple[Segment, ...]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent()
"""Stands for "there is nothing here", which is not null."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_$-]+")
_BRACKET = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]')


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def format_path(path: Path) -> str:
    """Dotted text of a path; empty for the object itself."""
    text = ""
    for segment in path:
        if isinstance(segment, int):
            text += f"[{segment}]"
        elif isinstance(segment, ItemKey):
            text += str(segment)
        elif _PLAIN_NAME.fullmatch(segment):
            text += f".{segment}" if text else segment
        else:
            quoted = segment.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{quoted}"]'
    return text


def parse_path(text: str) -> Path:
    """Path of a dotted text; merge keys' values become text, except whole numbers.

    Raises:
        ValueError: a bracket is not closed.
    """
    segments: list[Segment] = []
    for part in re.finditer(r'\["(?:[^"\\]|\\.)*"\]|\[[^\]]*\]|[^.\[]+|\[', text):
        piece = part[0]
        if not piece.startswith("["):
            segments.append(piece)
            continue
        match = _BRACKET.fullmatch(piece)
        if match is None:
            message = f"a bracket of the field path {text!r} is not closed"
            raise ValueError(message)
        segments.append(_bracketed(match[1], match[2] or ""))
    return tuple(segments)


def _bracketed(quoted: str | None, raw: str) -> Segment:
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted)
    if raw.isdigit():
        return int(raw)
    if "=" not in raw:
        return raw
    pairs = (pair.partition("=") for pair in raw.split(","))
    return ItemKey(
        tuple((key, int(value) if value.isdigit() else value) for key, _, value in pairs)
    )


def value_at(value: Any, path: Path) -> Any:  # noqa: ANN401  (JSON in, JSON out)
    """What stands at a path, or ABSENT."""
    for segment in path:
        if isinstance(segment, str):
            if not isinstance(value, Mapping) or segment not in value:
                return ABSENT
            value = value[segment]
            continue
        index = _index_of(value, segment)
        if index is None:
            return ABSENT
        value = value[index]
    return value


def _index_of(items: object, segment: int | ItemKey) -> int | None:
    if not isinstance(items, list):
        return None
    if isinstance(segment, int):
        return segment if segment < len(items) else None
    return next((i for i, item in enumerate(items) if segment.selects(item)), None)


def with_value(value: Any, path: Path, new: Any) -> Any:  # noqa: ANN401  (JSON in, JSON out)
    """Copy of a value with something else at a path; ABSENT removes what stands there.

    Missing parents are made; an item that no key selects is appended. The input is not changed.
    """
    if not path:
        return new
    segment, rest = path[0], path[1:]
    if isinstance(segment, str):
        fields = dict(value) if isinstance(value, Mapping) else {}
        inner = with_value(fields.get(segment, ABSENT), rest, new)
        if inner is ABSENT:
            fields.pop(segment, None)
        else:
            fields[segment] = inner
        return fields
    items = list(value) if isinstance(value, list) else []
    index = _index_of(items, segment)
    inner = with_value(ABSENT if index is None else items[index], rest, new)
    if index is None:
        return items if inner is ABSENT else [*items, inner]
    items[index : index + 1] = [] if inner is ABSENT else [inner]
    return items


def json_pointer(kube_object: KubeObject, path: Path) -> str | None:
    """RFC 6901 pointer of a path in an object, or None when nothing stands there."""
    pointer = ""
    value: Any = kube_object
    for segment in path:
        if isinstance(segment, str):
            token: str = segment.replace("~", "~0").replace("/", "~1")
            if not isinstance(value, Mapping) or segment not in value:
                return None
            value = value[segment]
        else:
            index = _index_of(value, segment)
            if index is None:
                return None
            token, value = str(index), value[index]
        pointer += f"/{token}"
    return pointer
