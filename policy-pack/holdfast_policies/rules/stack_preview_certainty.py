"""What a preview could not see, it says."""

from collections.abc import Iterator

from holdfast_policies.api import (
    ANY_KIND,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Stack,
)

MOST = Parameter(
    name="most_hidden",
    description="Most verdicts of mandatory rules that unknown values may hide.",
    schema={"type": "integer"},
    default=0,
)
_SHOWN = 5


def check(stack: Stack, settings: Settings) -> Iterator[Finding]:
    """Verdicts of mandatory rules that values not known yet have hidden."""
    hidden = sorted({(each.rule, each.place) for each in stack.hidden})
    if len(hidden) > settings["most_hidden"]:
        named = ", ".join(f"{rule} at {place}" for rule, place in hidden[:_SHOWN])
        more = f" and {len(hidden) - _SHOWN} more" if len(hidden) > _SHOWN else ""
        got = f"{len(hidden)} verdicts hidden by unknown values: {named}{more}"
        yield Breach("", got, f"at most {settings['most_hidden']}")


RULE = Rule(
    id="stack-preview-certainty",
    title="A preview that sees",
    description="Values that are not known yet have hidden verdicts of mandatory rules",
    rationale="What cannot be judged at preview is judged in the middle of the update.",
    remedy="make the values known at preview: names and images as settings, not as outputs",
    source="https://www.pulumi.com/docs/iac/concepts/inputs-outputs/",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "CA-7",
        "RA-3",
    ),
    fix=Fix.NO,
    kinds=frozenset({ANY_KIND}),
    check_stack=check,
    parameters=(MOST,),
    not_in_cluster="in the cluster every value is known",
)
