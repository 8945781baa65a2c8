"""What is carried from a workload into a manifest, what is left of it, and what is to be said."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import ABSENT, ItemKey, Segment, format_path


class Remainder:
    """A copy of an object that shrinks as its parts are carried over.

    Law: what was never taken is left.
    """

    def __init__(self, kube_object: Mapping[str, Any]) -> None:
        self._tree: dict[str, Any] = copy.deepcopy(dict(kube_object))

    @classmethod
    def of(cls, part: dict[str, Any]) -> "Remainder":
        """A view of a part: what is taken from it is gone from the whole."""
        view = cls({})
        view._tree = part
        return view

    def take(self, *path: str, default: Any = None) -> Any:  # noqa: ANN401 - any JSON value
        """Remove and return the value at a path of mappings; emptied parents go with it."""
        *parents, last = path
        nodes = [self._tree]
        for part in parents:
            below = nodes[-1].get(part)
            if not isinstance(below, dict):
                return default
            nodes.append(below)
        value = nodes[-1].pop(last, ABSENT)
        for part, node in zip(reversed(parents), reversed(nodes[:-1]), strict=True):
            if not node[part]:
                del node[part]
        return default if value is ABSENT else value

    def look(self, *path: str) -> Any:  # noqa: ANN401 - any JSON value
        """The value at a path, left where it is."""
        node: Any = self._tree
        for part in path:
            node = node.get(part) if isinstance(node, dict) else None
        return node

    def drop_equal(self, expected: Mapping[str, Any]) -> None:
        """Remove what says no more than what holds anyway."""
        _drop_equal(self._tree, expected)

    @property
    def left(self) -> dict[str, Any]:
        """What is not taken."""
        return self._tree

    def leaves(self) -> Iterator[tuple[str, Any]]:
        """Path and value of everything that is left; named items of lists by their name."""
        if self._tree:
            for path, value in _leaves(self._tree, ()):
                yield format_path(path), value


def _drop_equal(tree: dict[str, Any], expected: Mapping[str, Any]) -> None:
    for key, value in expected.items():
        if key in tree and tree[key] == value:
            del tree[key]
        elif isinstance(tree.get(key), dict) and isinstance(value, Mapping):
            _drop_equal(tree[key], value)
            if not tree[key]:
                del tree[key]


def _leaves(value: Any, path: tuple[Segment, ...]) -> Iterator[tuple[tuple[Segment, ...], Any]]:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _leaves(below, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            name = item.get("name") if isinstance(item, dict) else None
            part = ItemKey((("name", name),)) if isinstance(name, str) else index
            yield from _leaves(item, (*path, part))
    else:
        yield path, value


@dataclass(frozen=True, slots=True)
class Remark:
    """One field of an object that its manifest does not say as it stood.

    Attributes:
        subject: The object.
        path: Field of it.
        value: What stood there.
        reason: Why, or what to do.
    """

    subject: ObjectRef
    path: str
    value: Any
    reason: str


@dataclass(slots=True)
class Findings:
    """Remarks as they are made.

    Attributes:
        lost: Not carried: what the imported agent will not have.
        changed: Carried in another form, by Holdfast's own rules.
        images: Images without a digest, which a manifest must have.
        escaped: Fields of a pod that only `pod.overrides` can say.
    """

    lost: list[Remark] = field(default_factory=list)
    changed: list[Remark] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    escaped: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ImportedAgent:
    """One agent, and the objects it stands for.

    Attributes:
        manifest: As it is written to a file; the image may still lack its digest.
        objects: What was taken over in it.
    """

    manifest: dict[str, Any]
    objects: tuple[ObjectRef, ...]
    findings: Findings

    @property
    def name(self) -> str:
        """Name of the agent."""
        return str(self.manifest["metadata"]["name"])

    @property
    def is_complete(self) -> bool:
        """Whether nothing is lost and nothing remains to be filled in."""
        return not self.findings.lost and not self.findings.images
