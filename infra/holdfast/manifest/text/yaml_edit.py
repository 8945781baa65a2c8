"""Change one value in the text of a YAML file and leave every other character as it is. Pure.

Works on the places of the parser's nodes, in block and in flow style; new collections are written
in flow style. What the text means afterwards is for the caller to check by reading it again.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Path, Segment
from holdfast.manifest.text.plain_scalars import read_plain

_WORD: Final = re.compile(r"[A-Za-z0-9/.](?:[A-Za-z0-9/._@+:-]*[A-Za-z0-9/._@+-])?")
_SIMPLE_BLOCK: Final = re.compile(r"(?:[^\s](?:[\x20-\x7e]*[^\s])?\n(?:[\x20-\x7e]*\n)*)")

REMOVE: Final = object()
"""In place of a value: take the field or item away."""


class UneditableError(ValueError):
    """The text has no place for the change."""


def with_edit(text: str, place: SourceLocation, path: Path, value: Any) -> str:  # noqa: ANN401
    """The text with something else at a path below a place.

    Args:
        text: Of the whole file.
        place: Where a value begins, as an `Origin` has it.
        path: Keys and indices below that value, empty for the value itself; the index behind the
            last item of a list adds one.
        value: JSON value, or `REMOVE`.

    Raises:
        UneditableError: nothing begins there, or the path leads through a scalar.
    """
    chain = _chain_to(text, place)
    for depth, segment in enumerate(path):
        node = chain[-1][1]
        below = _child(node, segment)
        if below is None:
            if value is REMOVE:
                raise UneditableError("there is nothing to remove")
            return _with_new(text, node, segment, _nested(path[depth + 1 :], value))
        chain.append((segment, below))
    last, node = chain[-1]
    if value is not REMOVE:
        return _replaced(text, node, value)
    if last is None:
        raise UneditableError("a whole document cannot be removed")
    return _without(text, chain[-2][1], last)


def _chain_to(text: str, place: SourceLocation) -> list[tuple[Segment | None, Any]]:
    """The nodes from a document down to what begins at a place, each with its key or index."""
    todo: list[list[tuple[Segment | None, Any]]] = [
        [(None, root)] for root in yaml.compose_all(text, Loader=yaml.SafeLoader) if root
    ]
    while todo:
        chain = todo.pop()
        node = chain[-1][1]
        mark = node.start_mark
        if (mark.line + 1, mark.column + 1) == (place.line, place.column):
            return chain
        if isinstance(node, yaml.MappingNode):
            todo += [[*chain, (str(key.value), below)] for key, below in node.value]
        elif isinstance(node, yaml.SequenceNode):
            todo += [[*chain, (index, below)] for index, below in enumerate(node.value)]
    raise UneditableError(f"nothing begins at {place}")


def _child(node: Any, segment: Segment) -> Any:  # noqa: ANN401  (nodes share no typed base)
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == segment), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(segment, int):
        return node.value[segment] if segment < len(node.value) else None
    return None


def _nested(path: Path, value: Any) -> Any:  # noqa: ANN401  (JSON)
    for segment in reversed(path):
        value = {segment: value} if isinstance(segment, str) else [value]
    return value


def _flow(value: Any) -> str:  # noqa: ANN401  (JSON)
    """A value on one line, as people write it: bare words where they can only be text."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, str) and _is_plain(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether a text means itself without quotes, for every reader of YAML."""
    return _WORD.fullmatch(text) is not None and type(read_plain(text)) is str


def _block(text: str, indentation: int) -> str:
    lines = text.splitlines()
    return "|" + "".join(f"\n{' ' * indentation}{line}".rstrip(" ") for line in lines)


def _replaced(text: str, node: Any, value: Any) -> str:  # noqa: ANN401  (see above)
    new = _flow(value)
    start, end = node.start_mark.index, node.end_mark.index
    tail = text[start:end]
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        # A block ends where the next token begins: what stands between is not its own.
        end -= len(tail) - len(tail.rstrip())
    elif isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        end -= len(tail) - len(tail.rstrip("\n"))
        if isinstance(value, str) and _SIMPLE_BLOCK.fullmatch(value):
            first = tail.split("\n")[1]
            new = _block(value, len(first) - len(first.lstrip()))
    return text[:start] + new + text[end:]


def _with_new(text: str, node: Any, segment: Segment, value: Any) -> str:  # noqa: ANN401
    """The text with one more entry at the end of a mapping or list."""
    is_mapping = isinstance(node, yaml.MappingNode) and isinstance(segment, str)
    is_list = isinstance(node, yaml.SequenceNode) and segment == len(node.value)
    if not (is_mapping or is_list):
        raise UneditableError(f"there is no place for {segment!r}")
    entry = f"{_flow(segment)}: {_flow(value)}" if is_mapping else _flow(value)
    if node.flow_style:
        end = node.end_mark.index - 1
        body = text[node.start_mark.index + 1 : end]
        return text[:end].rstrip() + (", " if body.strip() else "") + entry + text[end:]
    if not node.value:
        raise UneditableError("an empty block has no place for more")
    first = node.value[0][0] if is_mapping else node.value[0]
    line = text.rfind("\n", 0, first.start_mark.index) + 1
    indentation = node.start_mark.column
    start = node.end_mark.index
    start -= len(text[:start]) - len(text[:start].rstrip())
    assert line <= start  # noqa: S101  (a block begins before it ends)
    dash = "" if is_mapping else "- "
    return f"{text[:start]}\n{' ' * indentation}{dash}{entry}{text[start:] or chr(10)}"


def _without(text: str, node: Any, segment: Segment) -> str:  # noqa: ANN401  (see above)
    index = (
        next(i for i, (key, _) in enumerate(node.value) if key.value == segment)
        if isinstance(node, yaml.MappingNode)
        else int(str(segment))
    )
    if len(node.value) == 1:
        # Nothing is left: an empty collection, which says so.
        return _replaced(text, node, {} if isinstance(node, yaml.MappingNode) else [])
    starts = [_start(entry) for entry in node.value]
    if node.flow_style:
        if index + 1 < len(starts):
            return text[: starts[index]] + text[starts[index + 1] :]
        before = _end(node.value[index - 1])
        return text[:before] + text[_end(node.value[index]) :]
    begin = text.rfind("\n", 0, starts[index]) + 1
    end = _end(node.value[index])
    end = begin + len(text[begin:end].rstrip()) + 1
    if index == 0 and isinstance(node, yaml.MappingNode) and text[begin : starts[0]].strip():
        # The first key of an item stands behind its dash.
        return text[: starts[0]] + text[starts[1] :]
    return text[:begin] + text[end:]


def _start(entry: Any) -> int:  # noqa: ANN401  (a node, or a pair of them)
    return int((entry[0] if isinstance(entry, tuple) else entry).start_mark.index)


def _end(entry: Any) -> int:  # noqa: ANN401  (a node, or a pair of them)
    return int((entry[1] if isinstance(entry, tuple) else entry).end_mark.index)
