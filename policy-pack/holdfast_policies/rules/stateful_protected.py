"""What holds data is not deleted by accident."""

from collections.abc import Iterator

from holdfast_policies.api import (
    CLAIM,
    DEFINITION,
    NAMESPACE,
    STATEFUL_SET,
    Breach,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
)


def check(subject: Subject, _: Settings) -> Iterator[Breach]:
    """A resource without `protect`; of an object outside a program that cannot be said."""
    if subject.options is not None and not subject.options.is_protected:
        yield Breach("", got="a resource without protect", required="a protected resource")


RULE = Rule(
    id="stateful-protected",
    title="Data under protection",
    description="A resource that holds data can be deleted by one command",
    rationale="What an agent remembers is deleted once, and no redeployment brings it back.",
    remedy="set the resource option protect",
    source="https://www.pulumi.com/docs/iac/concepts/resources/options/protect/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.DISABLED, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "CP-9",
        "CM-5",
    ),
    fix=Fix.NO,
    kinds=frozenset({CLAIM, STATEFUL_SET, DEFINITION, NAMESPACE}),
    check=check,
    not_in_cluster="protection is an option of the program",
)
