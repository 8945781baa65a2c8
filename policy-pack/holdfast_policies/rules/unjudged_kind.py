"""An object of a kind that no rule looks into is no object that passed."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

from holdfast_policies.api import (
    ANY_KIND,
    POD_KINDS,
    Breach,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
)
from holdfast_policies.facts.known_kinds import DELIVERERS, FULL_TEMPLATES, HARMLESS, is_in

KINDS = Parameter(
    name="kinds",
    description="Kinds that are known and pass, as Kind.group; * stands for any part.",
    schema={
        "type": "array",
        "items": {"type": "string", "examples": ["Postgresql.acid.zalan.do", "*.example.com"]},
    },
    default=[],
)


@cache
def _is_known(kind: Kind) -> bool:
    if not kind.name or kind in POD_KINDS:
        return True
    return any(is_in(table, kind) for table in (HARMLESS, FULL_TEMPLATES, DELIVERERS))


def check(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """A kind that neither a rule nor a table knows, and nobody has allowed."""
    name = str(subject.kind)
    if not _is_known(subject.kind) and not any(fnmatchcase(name, one) for one in settings["kinds"]):
        yield Breach("kind", got=name, required="a kind that rules look into, or one on the list")


RULE = Rule(
    id="unjudged-kind",
    title="Known kinds only",
    description="An object is of a kind into which no rule looks",
    rationale="Its controller may run anything with its rights, and a pass would say nothing.",
    remedy="deploy what it stands for as Kubernetes' own kinds, or list it in parameter kinds",
    source="https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/custom-resources/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=("CM-7", "CM-6"),
    fix=Fix.NO,
    kinds=frozenset({ANY_KIND}),
    check=check,
    parameters=(KINDS,),
    not_in_cluster="policies name the kinds that they are asked about",
)
