"""What several environments share, and what each has of its own.

Law: `laid_over(shared, own_part(each, shared)) == each` with `shared = shared_part(objects)`.
Nothing is ever taken away by an own part, so that tools which merge (Kustomize, Helm) give exactly
the object: fields are shared when all agree on them, and lists are shared as a whole or not at all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.kube.objects import KubeObject, ObjectRef, reference_of


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
