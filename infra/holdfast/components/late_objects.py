"""Where objects that were rendered with different values differ, and outputs in those places."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.kube.paths import Path, format_path
from holdfast.render.plan.metadata import RenderedObject

Objects = Sequence[RenderedObject]


def differing(values: Sequence[Any], path: Path = ()) -> list[Path]:
    """Paths of the smallest parts in which values differ; parts of another shape as a whole."""
    first = values[0]
    if all(each == first for each in values):
        return []
    if all(isinstance(each, dict) and each.keys() == first.keys() for each in values):
        parts: Iterable[Any] = first
    elif all(isinstance(each, list) and len(each) == len(first) for each in values):
        parts = range(len(first))
    else:
        return [path]
    return [
        found
        for part in parts
        for found in differing([each[part] for each in values], (*path, part))
    ]


def late_paths(versions: Sequence[Objects]) -> list[list[Path]]:
    """For each object of several renderings, the paths in which they differ."""
    return [differing([item.manifest for item in same]) for same in zip(*versions, strict=True)]


def other_shape(found: Objects, expected: Objects, late: Sequence[Sequence[Path]]) -> str:
    """What differs besides the late paths, in words; empty where nothing does."""
    if [_kept(item) for item in found] != [_kept(item) for item in expected]:
        return "which objects there are, or how they are kept"
    for item, other, paths in zip(found, expected, late, strict=True):
        for path in differing([item.manifest, other.manifest]):
            if not any(path[: len(each)] == each for each in paths):
                name = other.manifest["metadata"]["name"]
                return f"{format_path(path)} of {item.manifest['kind']} {name}"
    return ""


def _kept(item: RenderedObject) -> RenderedObject:
    """What no value may decide: the name of the resource, and how it is kept."""
    manifest = {key: item.manifest[key] for key in ("apiVersion", "kind")}
    return replace(item, manifest=manifest, content="")


def at(value: Any, path: Path) -> Any:  # noqa: ANN401 - any JSON value
    """What stands at a path."""
    for part in path:
        value = value[part]
    return value


def with_values_at(manifest: Any, values: Mapping[Path, object]) -> Any:  # noqa: ANN401
    """A copy with other values at some paths."""
    for path, value in values.items():
        manifest = _put(manifest, path, value)
    return manifest


def _put(value: Any, path: Path, what: object) -> Any:  # noqa: ANN401 - any JSON value
    if not path:
        return what
    copied: Any = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = _put(value[path[0]], path[1:], what)
    return copied
