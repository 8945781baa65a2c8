"""Stacks as they are handed over, and the files that are made of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.kube.objects import KubeObject
from holdfast.render.plan.marks import RenderedObject

STACK_FOLDER = "stack"
"""Group of what belongs to no single agent, such as namespaces."""


@dataclass(frozen=True)
class RenderedStack:
    """One stack.

    Attributes:
        name: Its name.
        cluster: Name of its cluster: `identifier` of its settings, else the stack's name.
        objects: Everything that is rendered for it.
    """

    name: str
    cluster: str
    objects: tuple[RenderedObject, ...]


@dataclass(frozen=True)
class GitSource:
    """Where in Git the written files lie, for tools that fetch them from there.

    Attributes:
        repository: Address of the repository.
        revision: Branch, tag or commit.
        path: Folder of the files in the repository; empty for its root.
    """

    repository: str
    revision: str
    path: str = ""

    def below(self, *parts: str) -> str:
        """Path of a folder below the files' own."""
        return "/".join(part for part in (self.path.strip("/"), *parts) if part) or "."


@dataclass(frozen=True)
class ExportedFile:
    """One file: objects as YAML documents, or a text of its own.

    Attributes:
        path: Relative to the folder that is written.
        documents: Its objects, when it is YAML.
        text: Its text, when it is not.
        comment: Lines above the documents that say what to know.
    """

    path: str
    documents: tuple[KubeObject, ...] = ()
    text: str = ""
    comment: str = ""


def object_file(item: RenderedObject) -> str:
    """A file for one object: `<agent>/<namespace>-<kind>-<name>.yaml`, safe whatever the names."""
    metadata = item.manifest["metadata"]
    parts = [metadata.get("namespace", ""), item.manifest["kind"], metadata["name"]]
    # Names are validated, but a path is built from nothing that could leave the folder.
    name = "-".join(re.sub(r"[^A-Za-z0-9.-]", "_", part) for part in parts if part)
    return f"{item.agent or STACK_FOLDER}/{name.lower()}.yaml"


def kept(stack: RenderedStack, annotation: str, value: str) -> RenderedStack:
    """The stack with a tool's own mark on everything that must outlive a removal."""
    return replace(stack, objects=tuple(_marked(stack.objects, annotation, value)))


def _marked(
    objects: Sequence[RenderedObject], annotation: str, value: str
) -> Iterable[RenderedObject]:
    for item in objects:
        if not item.is_retained:
            yield item
            continue
        metadata = item.manifest["metadata"]
        annotations = metadata.get("annotations", {}) | {annotation: value}
        manifest = item.manifest | {"metadata": metadata | {"annotations": annotations}}
        yield replace(item, manifest=manifest)
