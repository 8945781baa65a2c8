"""What a rule changes of an object to put it right: single values at single places."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast_policies.decode.unknown import is_unknown
from holdfast_policies.model.kinds import POD_TEMPLATE_PATHS
from holdfast_policies.model.subject import Container, Subject, field_path, items, key_path, mapping

Steps = tuple[str | int, ...]
"""Keys of mappings and indexes of lists, from the object's root."""


class CannotEditError(Exception):
    """What stands in the way of an edit is neither absent nor a mapping or list."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One value that is put into an object.

    Attributes:
        steps: Where; what is absent on the way is made.
        value: Plain JSON value; never one of the object's own, which could be a secret.
    """

    steps: Steps
    value: Any

    @property
    def words(self) -> str:
        """Place and value, for people."""
        path = ""
        for step in self.steps:
            path = f"{path}[{step}]" if isinstance(step, int) else _below(path, step)
        return f"{path} = {json.dumps(self.value)}"


def _below(path: str, key: str) -> str:
    return key_path(path, key) if path else field_path("", key)


def with_edits(kube_object: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """A copy with the values put in; the object itself is not changed.

    Raises:
        CannotEditError: something else stands where a mapping or list has to.
    """
    changed: Any = dict(kube_object)
    for edit in edits:
        changed = _with_value(changed, edit.steps, edit.value)
    edited: dict[str, Any] = changed
    return edited


def _with_value(value: Any, steps: Steps, new: Any) -> Any:  # noqa: ANN401  # any JSON value
    if not steps:
        return new
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        if not isinstance(value, list) or step >= len(value):
            raise CannotEditError
        return [*value[:step], _with_value(value[step], rest, new), *value[step + 1 :]]
    if value is not None and not isinstance(value, dict):
        raise CannotEditError
    fields = dict(value or {})
    fields[step] = _with_value(fields.get(step), rest, new)
    return fields


def spec_steps(subject: Subject) -> Steps:
    """Where the specification of the pod stands that an object is or makes."""
    return (*POD_TEMPLATE_PATHS[subject.kind], "spec")


def containers_at(subject: Subject) -> Iterator[tuple[Steps, Container]]:
    """Containers that a workload may have, with where they stand."""
    pod = subject.pod
    if pod is None:
        return
    for name in ("initContainers", "containers"):
        for index, value in enumerate(items(pod.spec.get(name))):
            yield (*spec_steps(subject), name, index), Container(mapping(value), name, pod)


def has_unknown(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Whether any part of a value is not known yet."""
    if is_unknown(value):
        return True
    if isinstance(value, dict):
        return any(has_unknown(item) for item in dict.values(value))
    if isinstance(value, list):
        return any(has_unknown(item) for item in list.__iter__(value))
    return False
