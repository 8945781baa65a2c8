"""What a deployment would do, as reports tell it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef

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
