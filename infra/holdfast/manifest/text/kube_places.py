"""Where in a file of Kubernetes objects a field stands: read again, with marks, only when asked.

Reading with marks takes several times as long as reading, and most objects have nothing wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import yaml

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Path as FieldPath
from holdfast.kube.paths import Segment, format_path, parse_path

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class KubeFilePlaces:
    """Places in one file whose objects `kube_files` has read.

    Attributes:
        file: Its path.
    """

    file: str

    def place_of(self, index: int, path: str) -> SourceLocation:
        """Place of a field's value; of what is absent, the key of the nearest part around it.

        Args:
            index: Number of the object among those of the file, from 0.
            path: Field path as rules and findings write it; empty for the whole object.
        """
        if index >= len(self._objects):
            return SourceLocation(self.file)
        node = key = self._objects[index]
        for segment in _segments(path):
            found = _below(node, segment)
            if found is None:
                return self._at(key)
            key, node = found
        return self._at(node if isinstance(node, yaml.ScalarNode) else key)

    def _at(self, node: yaml.Node) -> SourceLocation:
        return SourceLocation(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    @cached_property
    def _objects(self) -> list[yaml.Node]:
        try:
            with Path(self.file).open("rb") as stream:
                documents = list(yaml.compose_all(stream, Loader=_LOADER))
        except (OSError, yaml.YAMLError):  # JSON that is no YAML: the file is all that is known
            return []
        return [node for document in documents for node in _items(document)]


def _items(document: yaml.Node | None) -> Iterator[yaml.Node]:
    """The objects of a document, as `kube_files` counts them."""
    if not isinstance(document, yaml.MappingNode):
        return
    fields = {key.value: value for key, value in document.value}
    kind = fields.get("kind")
    name = str(kind.value) if isinstance(kind, yaml.ScalarNode) else ""
    api = fields.get("apiVersion")
    group = str(api.value).partition("/")[0] if isinstance(api, yaml.ScalarNode) else ""
    items = fields.get("items")
    is_plain = name.endswith("List") and not {"spec", "data"} & fields.keys()
    if is_plain and (name == "List" or isinstance(items, yaml.SequenceNode)):
        for item in items.value if isinstance(items, yaml.SequenceNode) else ():
            yield from _items(item)
    elif name != "Kustomization" or group != "kustomize.config.k8s.io":
        yield document


def _segments(path: str) -> FieldPath:
    try:
        return parse_path(path)
    except ValueError:
        return ()


def _below(node: yaml.Node, segment: Segment) -> tuple[yaml.Node, yaml.Node] | None:
    """What marks an entry, and its value; None where there is none."""
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == segment), None)
    if not isinstance(node, yaml.SequenceNode):
        return None
    if isinstance(segment, int):
        return (node.value[segment],) * 2 if segment < len(node.value) else None
    return next(((item, item) for item in node.value if _is_chosen(item, segment)), None)


def _is_chosen(item: yaml.Node, segment: Segment) -> bool:
    if not isinstance(item, yaml.MappingNode):
        return False
    texts = {
        key.value: value.value for key, value in item.value if isinstance(value, yaml.ScalarNode)
    }
    wanted = format_path((segment,)).strip("[]").split(",")
    return all(texts.get(key) == text for key, _, text in (each.partition("=") for each in wanted))
