"""A field holds what the API knows for it, so that a rule which asks for it is answered."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from holdfast_policies.field_types import mistyped, typed_fields
from holdfast_policies.finding import Breach
from holdfast_policies.kinds import ANY_KIND, Kind
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Subject


@cache
def _fields(kind: Kind) -> dict[str, Any]:
    return typed_fields(kind)


def check(subject: Subject, _: Settings) -> Iterator[Breach]:
    """Every field that rules read, by its type."""
    for path, got, required in mistyped(subject.object, _fields(subject.kind)):
        yield Breach(path, got=got, required=required)


RULE = Rule(
    id="typed-fields",
    title="Fields of their types",
    description="A field holds a value of a type that the API refuses, so that no rule can read it",
    rationale="What is text where true or false belongs reads as neither, and would pass unseen.",
    remedy="write the value as the API has it, numbers and true or false without quotes",
    source="https://kubernetes.io/docs/reference/kubernetes-api/",
    severity=Severity.HIGH,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("CM-6", "SI-7"),
    fix=Fix.NO,
    kinds=frozenset({ANY_KIND}),
    check=check,
    not_in_cluster="the API server refuses such values itself",
)
