"""What a preview would change, object by object and field by field, secrets masked."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import Inputs, ResourceStep
from holdfast.adapters.engine.state.checkpoint import NOT_KNOWN_YET, asked_object
from holdfast.drift.masking import MASK, MASK_CHANGED, mask_pair
from holdfast.errors import SourceLocation
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.paths import ABSENT, Path, format_path, parse_path
from holdfast.kube.text import line_diff, safe_text, value_words
from holdfast.manifest.types.marks import AGENT_LABEL, REVISION
from holdfast.render.provenance.flatten import leaves_of

_PARTICIPLES = {
    "create": "created",
    "update": "updated",
    "replace": "replaced",
    "delete": "deleted",
    "import": "imported",
}


@dataclass(frozen=True)
class FieldChange:
    """One field that a deployment would set.

    Attributes:
        path: Field path.
        before: Value now, in printable words; None where there is none.
        after: Value then, in printable words; None where there will be none.
        diff: Lines beginning with `+`, `-` or a space, where two long texts differ.
        location: Where the field is declared; None when no file declares it.
    """

    path: str
    before: str | None
    after: str | None
    diff: tuple[str, ...] = ()
    location: SourceLocation | None = None

    @property
    def value_lines(self) -> tuple[str, ...]:
        """The values as lines of a diff, each with its sign."""
        signed = (("-", self.before), ("+", self.after))
        return self.diff or tuple(f"{sign} {text}" for sign, text in signed if text is not None)

    @property
    def lines(self) -> tuple[str, ...]:
        """The change as lines of a diff, each with its sign."""
        if self.diff:
            return (f"@ {self.path}", *self.diff)
        signed = (("-", self.before), ("+", self.after))
        return tuple(f"{sign} {self.path}: {text}" for sign, text in signed if text is not None)


@dataclass(frozen=True)
class ObjectChange:
    """What a deployment would do with one object.

    Attributes:
        operation: `create`, `update`, `replace`, `delete` or `import`.
        agent: Agent that it belongs to; empty where there is none.
        fields: What differs; empty for objects that come or go.
    """

    ref: ObjectRef
    operation: str
    agent: str = ""
    fields: tuple[FieldChange, ...] = ()

    @property
    def title(self) -> str:
        """The object and what becomes of it, in words."""
        return f"{self.ref} {_PARTICIPLES.get(self.operation, self.operation)}"


def by_agent(changes: Iterable[ObjectChange]) -> Iterator[tuple[str, list[ObjectChange]]]:
    """Changes of each agent together, in the order of names; those of none first."""
    for agent, group in groupby(
        sorted(changes, key=lambda each: each.agent), key=lambda each: each.agent
    ):
        yield agent, list(group)


def count_words(changes: Iterable[ObjectChange]) -> str:
    """How many objects have which fate: `2 updated, 1 created`."""
    counted: dict[str, int] = {}
    for each in changes:
        word = _PARTICIPLES.get(each.operation, each.operation)
        counted[word] = counted.get(word, 0) + 1
    return ", ".join(f"{count} {word}" for word, count in sorted(counted.items()))


LocateObjectField = Callable[[ObjectRef, Path], SourceLocation | None]

_BOOKKEEPING: Final = ("metadata", "annotations", REVISION)
_LONGEST_VALUE_CHARACTERS: Final = 400
_LATER: Final = "(known after the update)"
_CHANGING: Final = frozenset({"create", "update", "replace", "delete", "import"})
"""Operations that change something; the engine also reports each half of a replacement."""


def planned_changes(result: RunResult, place_of: LocateObjectField) -> tuple[ObjectChange, ...]:
    """Every object that would come, change or go, by agent and object.

    Args:
        result: Of a preview.
        place_of: Where a field of an object is declared; None: nowhere.
    """
    changes = [
        ObjectChange(
            step.reference,
            step.operation,
            safe_text(step.labels.get(AGENT_LABEL, "")),
            tuple(_fields(step, step.reference, place_of)),
        )
        for step in result.steps
        if step.reference is not None and step.operation in _CHANGING
    ]
    return tuple(sorted(changes, key=lambda each: (each.agent, each.ref, each.operation)))


def _fields(
    step: ResourceStep, ref: ObjectRef, place_of: LocateObjectField
) -> Iterator[FieldChange]:
    if step.before is None or step.after is None or step.operation == "delete":
        return
    found = list(field_changes(step.before, step.after, ref, place_of))
    yield from found
    if not found:
        # What the program calls secret the engine does not report, only that it differs.
        for difference in step.differences:
            path = parse_path(difference.path)
            if path != _BOOKKEEPING:
                yield FieldChange(safe_text(difference.path), MASK, MASK_CHANGED, (), None)


def field_changes(
    before: Inputs, after: Inputs, ref: ObjectRef, place_of: LocateObjectField
) -> Iterator[FieldChange]:
    """The fields in which two states of one object differ, masked; none when one is no object."""
    old_object, new_object = asked_object(before), asked_object(after)
    if old_object is None or new_object is None:
        return
    for path, old, new in _differing(old_object, new_object):
        shown_old, shown_new = mask_pair(new_object, path, old, new)
        yield FieldChange(
            safe_text(format_path(path), _LONGEST_VALUE_CHARACTERS),
            _shown_value(shown_old),
            _shown_value(shown_new),
            line_diff(shown_old, shown_new),
            place_of(ref, path),
        )


def _differing(before: KubeObject, after: KubeObject) -> list[tuple[Path, Any, Any]]:
    """Leaves with their values before and after; ABSENT where there is none."""
    old, new = dict(leaves_of(before)), dict(leaves_of(after))
    paths = [path for path in new if old.get(path, ABSENT) != new[path]]
    paths += [path for path in old if path not in new]
    return [
        (path, old.get(path, ABSENT), new.get(path, ABSENT))
        for path in paths
        if path != _BOOKKEEPING
    ]


def _shown_value(value: Any) -> str | None:  # noqa: ANN401  (any JSON value)
    if value is None:
        return None
    return _LATER if value == NOT_KNOWN_YET else value_words(value, _LONGEST_VALUE_CHARACTERS)
