"""What each type of agent makes of each field: a field without effect is refused, not ignored."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from pydantic import BaseModel

from holdfast.manifest.types.conditions import Written, is_, part_in, written_as
from holdfast.manifest.types.rules import Rule

AgentType = Literal["Service", "Job", "Sandbox"]
"""Service answers requests without end, Job runs by its schedules and triggers, Sandbox is a
workspace for one user at a time."""

SERVING: Final = frozenset({"Service"})
RUN: Final = frozenset({"Job"})
SANDBOX: Final = frozenset({"Sandbox"})
CALLED: Final = SERVING | SANDBOX
EVERY: Final = SERVING | RUN | SANDBOX


@dataclass(frozen=True, slots=True)
class OnlyFor:
    """Mark of a field that has an effect on some types of agent only, with all that lies below."""

    types: frozenset[str]


def types_of(model: type[BaseModel], path: Sequence[str]) -> frozenset[str]:
    """The types on which a field of a spec has an effect.

    Args:
        model: Model of the spec.
        path: The field, in the words of files, without positions in lists and keys of mappings.
    """
    types = EVERY
    for field, only in _marked(model):
        own = written_as(model, field)
        if tuple(path[: len(own)]) == own:
            types &= only.types
    return types


@cache
def rules_of_types(model: type[BaseModel]) -> tuple[Rule, ...]:
    """A rule for each field of a spec that has no effect on some type: it is not written there."""
    return tuple(
        Rule(
            f"type-of-{'.'.join(written_as(model, field))}",
            Written(field).needs(is_("type", *sorted(only.types))),
            "has no effect on an agent of this type",
            shown=("type",),
            remedy=f"remove it; it is for type {' and '.join(sorted(only.types))}",
            at=field,
        )
        for field, only in _marked(model)
    )


@cache
def _marked(model: type[BaseModel]) -> tuple[tuple[str, OnlyFor], ...]:
    """Fields with a mark, at any depth, in Python's words."""
    found: list[tuple[str, OnlyFor]] = []
    for name, info in model.model_fields.items():
        found += [(name, each) for each in info.metadata if isinstance(each, OnlyFor)]
        part = part_in(info)
        if part is not None:
            found += [(f"{name}.{below}", mark) for below, mark in _marked(part)]
    return tuple(found)
