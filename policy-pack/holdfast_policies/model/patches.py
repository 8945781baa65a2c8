"""What a rule of level `remediate` changes, in CEL: the API server puts right what the pack does.

A rule gives lists of JSON patches. They are written over the variables of `cel`, and over
`podPointer`, the JSON pointer of the pod's specification. Only `add` is used: it sets a field that
is absent, and replaces a value. What is absent on the way is added first.
Source: kubernetes.io, "Mutating Admission Policy"; RFC 6901; RFC 6902.
"""

from collections.abc import Iterable, Sequence

from holdfast_policies.model.cel import is_set, items_of, quoted

_FIELDS = ("initContainers", "containers")
"""Lists of containers that may be changed; ephemeral ones may not."""


def patch_at(pointer: str, when: str, value: str) -> str:
    """A patch where something holds.

    Args:
        pointer: CEL of a text: where.
        when: CEL: whether.
        value: CEL of what is put there.
    """
    return f"({when} ? [{json_patch(pointer, value)}] : [])"


def patch_containers(when: str, steps: Sequence[str], value: str) -> str:
    """Patches of a field in every container in which something holds, and of what is above it.

    Args:
        when: CEL over `c` (`c.value`): whether the container is to be changed.
        steps: Where in the container.
        value: CEL over `c` of what is put there.
    """
    return f"{patch_above(when, steps)} + {patch_fields(when, steps, value)}"


def patch_above(when: str, steps: Sequence[str]) -> str:
    """Patches of what is absent above a field; arguments as `patch_containers`."""
    return " + ".join(
        _in_each(field, f"({when}) && !({is_set(_optional(steps[:count]))})", steps[:count], "{}")
        for count in range(1, len(steps))
        for field in _FIELDS
    )


def patch_fields(when: str, steps: Sequence[str], value: str) -> str:
    """Patches of a field whose parents are there; arguments as `patch_containers`."""
    return " + ".join(_in_each(field, when, steps, value) for field in _FIELDS)


def patch_volumes(when: str, steps: Sequence[str], value: str) -> str:
    """Patches of a field in every volume (`c.value`) in which something holds."""
    return _in_each("volumes", when, steps, value)


def json_patch(pointer: str, value: str) -> str:
    """One JSON patch; both arguments are CEL."""
    return f'JSONPatch{{op: "add", path: {pointer}, value: {value}}}'


def _in_each(field: str, when: str, steps: Iterable[str], value: str) -> str:
    """Patches in the items of a list: `c.value` is an item, as where rules judge it."""
    pointer = f'variables.podPointer + "/{field}/" + string(i) + {quoted(_pointer(steps))}'
    wrapped = f'{items_of(f"variables.podSpec.?{field}")}.map(each, {{"value": dyn(each)}})'
    return f"{wrapped}.transformList(i, c, {when}, {json_patch(pointer, value)})"


def _pointer(steps: Iterable[str]) -> str:
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in steps)


def _optional(steps: Iterable[str]) -> str:
    return "c.value" + "".join(f".?{step}" for step in steps)
