"""Stacks as they are exported, and their split into what all share and what is each one's own.

Law: `laid_over(shared, own_part(each, shared)) == each` with `shared = shared_part(objects)`. An
own part removes nothing, so that tools which merge (Kustomize, Helm) give exactly the object:
fields are shared when all agree on them, and lists are shared as a whole or not at all.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.render.plan.metadata import RenderedObject

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
class RepositorySource:
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


def shared_part(objects: Sequence[Mapping[str, Any]]) -> KubeObject:
    """The fields on which all objects agree."""
    first, *others = objects
    shared: KubeObject = {}
    for key, value in first.items():
        if not all(key in other for other in others):
            continue
        values = [value, *(other[key] for other in others)]
        if all(isinstance(each, Mapping) for each in values):
            shared[key] = shared_part(values)
        elif all(_same(value, each) for each in values):
            shared[key] = value
    return shared


def shared_objects(stacks: Sequence[Sequence[KubeObject]]) -> dict[ObjectRef, KubeObject]:
    """The shared part of every object that all stacks have, in the order of the first."""
    by_stack = [{reference_of(each): each for each in objects} for objects in stacks]
    return {
        ref: shared_part([objects[ref] for objects in by_stack])
        for ref in by_stack[0]
        if all(ref in objects for objects in by_stack)
    }


def own_part(whole: Mapping[str, Any], shared: Mapping[str, Any]) -> KubeObject:
    """What must be laid over the shared part to give the whole object."""
    own: KubeObject = {}
    for key, value in whole.items():
        if key not in shared:
            own[key] = value
        elif isinstance(value, Mapping) and (below := own_part(value, shared[key])):
            own[key] = below
    return own


def laid_over(shared: Mapping[str, Any], own: Mapping[str, Any]) -> KubeObject:
    """The shared part with an own part laid over it."""
    result = dict(shared)
    for key, value in own.items():
        below = result.get(key)
        is_nested = isinstance(value, Mapping) and isinstance(below, Mapping)
        result[key] = laid_over(below, value) if is_nested else value  # type: ignore[arg-type]  # both are mappings
    return result


def _same(left: object, right: object) -> bool:
    """Equality of JSON values: true is not 1, and 1 is not 1.0."""
    return type(left) is type(right) and repr(left) == repr(right)
