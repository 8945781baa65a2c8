"""All objects of one stack, indexed once for every stack rule."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from holdfast_policies.decode.unknown import UndeterminedError
from holdfast_policies.model.kinds import POD_TEMPLATE_PATHS, Kind
from holdfast_policies.model.subject import Subject


@dataclass(frozen=True, slots=True)
class Hidden:
    """A verdict of a mandatory rule that an unknown value has hidden.

    Attributes:
        rule: Id of the rule.
        place: The object and the field path of the value.
    """

    rule: str
    place: str


@dataclass(frozen=True, eq=False)
class Stack:
    """The objects of one stack.

    Attributes:
        subjects: All of them, in the order in which the engine registered them.
        hidden: What could not be judged when they were looked at one by one.
    """

    subjects: tuple[Subject, ...]
    hidden: tuple[Hidden, ...] = ()

    @classmethod
    def of(cls, subjects: Iterable[Subject], hidden: Iterable[Hidden] = ()) -> "Stack":
        """Stack of these objects; one that is too large to be judged is refused by itself."""
        return cls(tuple(each for each in subjects if not each.size_fault), tuple(hidden))

    @cached_property
    def by_kind(self) -> Mapping[Kind, tuple[Subject, ...]]:
        """Objects of each kind."""
        index: dict[Kind, list[Subject]] = {}
        for subject in self.subjects:
            index.setdefault(subject.kind, []).append(subject)
        return {kind: tuple(subjects) for kind, subjects in index.items()}

    @cached_property
    def workloads(self) -> tuple[Subject, ...]:
        """Objects that are or make pods."""
        return tuple(subject for subject in self.subjects if subject.kind in POD_TEMPLATE_PATHS)

    @cached_property
    def _by_namespace(self) -> Mapping[tuple[Kind, str], tuple[Subject, ...]]:
        """Objects of each kind and namespace, in their order; one not known yet is in each."""
        places: dict[Kind, list[tuple[str | None, Subject]]] = {}
        for subject in self.subjects:
            try:
                namespace: str | None = subject.namespace
            except UndeterminedError:
                namespace = None
            places.setdefault(subject.kind, []).append((namespace, subject))
        index: dict[tuple[Kind, str], list[Subject]] = {}
        for kind, placed in places.items():
            named = {namespace for namespace, _ in placed if namespace is not None}
            for namespace, subject in placed:
                for each in (namespace,) if namespace is not None else (*named, ""):
                    index.setdefault((kind, each), []).append(subject)
        return {place: tuple(subjects) for place, subjects in index.items()}

    def near(self, kind: Kind, namespace: str) -> tuple[Subject, ...]:
        """Objects of one kind in a namespace, or in one that is not known yet."""
        found = self._by_namespace.get((kind, namespace))
        return self._by_namespace.get((kind, ""), ()) if found is None else found

    def of_kind(self, kind: Kind) -> tuple[Subject, ...]:
        """Objects of one kind."""
        return self.by_kind.get(kind, ())
