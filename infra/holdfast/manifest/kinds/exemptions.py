"""Reviewed exemptions: what a rule or the drift scan is to leave alone, why, and until when.

Each names who answers for it and when it ends; whether it has ended is judged against a date that
the caller passes in (`expiry.py`), because manifests know no clock.
"""

from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.conditions import Every, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import KindName, LabelName, LabelValue, ObjectName, TeamName
from holdfast.manifest.types.rules import OneOf, Rule, Ruled
from holdfast.manifest.types.values import FieldPath, Text


def _day(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return date.fromisoformat(value)
    except ValueError:
        expected = 'expected a day such as "2026-03-31"'
        remedy = "write year, month and day, as YYYY-MM-DD"
        raise fault(expected, found=repr(value), remedy=remedy) from None


Day = Annotated[
    date,
    BeforeValidator(_day),
    WithJsonSchema(
        {
            "type": "string",
            "format": "date",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
            "examples": ["2026-03-31"],
        }
    ),
]
"""A calendar day, quoted in files or as YAML writes dates."""


Glob = Text
"""A name in which `*` stands for any text and `?` for one character."""


class ExceptionTarget(ManifestModel):
    """The one object that a rule is waived for; no patterns, so that nothing slips in with it."""

    kind: KindName
    """Kind of the object, such as Deployment."""
    name: ObjectName
    """Its name."""
    namespace: LabelName
    """Its namespace."""


class PolicyExceptionSpec(ManifestModel):
    """A waiver: rules that one object may break, granted by a person for a time."""

    rules: Annotated[Items[Text], Field(min_length=1)]
    """Names of the rules, such as egress-scoped."""
    target: ExceptionTarget
    """The object that may break them."""
    reason: Text
    """Why it has to."""
    owner: TeamName
    """Team that answers for it."""
    ticket: Text
    """Where it was discussed."""
    approver: Text
    """Who granted it."""
    expires: Day
    """Last day on which it holds; at most 90 days ahead."""
    stacks: Items[LabelValue] = ()
    """Only on these stacks; default every stack of the project."""


class IgnoreTarget(Ruled):
    """The objects that an ignore rule is for: globs, all of which must match."""

    RULES = (
        Rule(
            "ignore-not-everything",
            ~Every((is_("kind", "*"), is_("name", "*"), is_("namespace", "*"))),
            "expected a kind, a name or a namespace",
            remedy="name the objects that the rule is for",
        ),
    )

    group: str = "*"
    """API group; empty for the core group. Default any."""
    kind: Glob = "*"
    """Kind. Default any."""
    name: Glob = "*"
    """Name. Default any."""
    namespace: Glob = "*"
    """Namespace. Default any."""


class DriftIgnoreSpec(Ruled):
    """Drift of several objects that is expected: counted in every report, but not told."""

    RULES = (OneOf(("paths", "managers"), remedy="say which changes are meant"),)

    target: IgnoreTarget
    """The objects."""
    paths: Items[FieldPath] = ()
    """Fields that may differ, with everything below them; excludes managers."""
    managers: Items[Glob] = ()
    """Field managers whose changes are expected; excludes paths."""
    reason: Text
    """Why it is expected."""
    owner: TeamName
    """Team that answers for it."""
    expires: Day
    """Last day on which it holds."""
