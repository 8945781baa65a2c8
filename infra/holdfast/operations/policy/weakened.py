"""What a stack's settings take away from the rules, as findings of their own."""

from collections.abc import Iterator

from holdfast_policies.profile import Profile, environment_of
from holdfast_policies.weakened import (
    RULE_WEAKENED,
    Weakening,
    asks_nothing,
    in_words,
    weakenings,
)

from holdfast.drift.finding import NotChecked, Severity
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.operations.policy.model import PolicyFinding, Verdict

_THE_STACK = ObjectRef("", "", "", "")


def weakened_findings(
    profile: Profile, stack: str, by: str, location: SourceLocation | None
) -> Iterator[PolicyFinding]:
    """One finding that names every rule which asks less than the stack's profile wants.

    Args:
        profile: Rules as they are in force.
        stack: Name of the stack, which says what is wanted; empty for the profile itself.
        by: What weakens them: a file, or the settings of the stack.
        location: Where that is written.
    """
    wanted = environment_of(stack) if stack else profile.environment
    found: list[Weakening] = list(weakenings(profile, wanted))
    if found:
        yield PolicyFinding(
            rule=RULE_WEAKENED,
            verdict=Verdict.VIOLATED,
            is_mandatory=False,
            severity=Severity.MEDIUM,
            ref=_THE_STACK,
            expected=f"the levels of profile {wanted}",
            found=f"by {by}: {in_words(found)}",
            remedy="raise the levels again, or waive single objects by a PolicyException",
            location=location,
        )


def unasked(profile: Profile) -> tuple[NotChecked, ...]:
    """That nothing was judged, where every rule is disabled."""
    return (NotChecked("rules", "every rule is disabled"),) if asks_nothing(profile) else ()
