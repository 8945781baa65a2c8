"""A field holds what the API knows for it, so that a rule which asks for it is answered."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from holdfast_policies.api import (
    ANY_KIND,
    Breach,
    Fix,
    Kind,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
)
from holdfast_policies.facts.field_types import (
    PlainTypes,
    is_well_typed,
    mistyped,
    plain_types,
    typed_fields,
)


@cache
def _fields(kind: Kind) -> tuple[dict[str, Any], PlainTypes]:
    fields = typed_fields(kind)
    return fields, plain_types(fields)


def check(subject: Subject, _: Settings) -> Iterator[Breach]:
    """Every field that rules read, by its type."""
    fields, plain = _fields(subject.kind)
    if is_well_typed(subject.object, plain):
        return
    for path, got, required in mistyped(subject.object, fields):
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
