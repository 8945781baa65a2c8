"""What a stack's settings take away from the rules, as findings of their own."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from holdfast_policies.evaluation.profile import Profile, environment_of
from holdfast_policies.evaluation.weakened import (
    RULE_WEAKENED,
    Weakening,
    asks_nothing,
    in_words,
    weakenings,
)

from holdfast.adapters.git.authors import authors_of_lines
from holdfast.drift.finding import NotChecked, Severity
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.policy.model import PolicyFinding, Verdict
from holdfast.operations.stack.context import StackContext

_THE_STACK = ObjectRef("", "", "", "")


def weakened_findings(
    profile: Profile,
    stack: str,
    by: str,
    place_of: Callable[[str], SourceLocation | None],
    root: Path | None = None,
) -> Iterator[PolicyFinding]:
    """One finding that names every rule which asks less than the stack's profile wants.

    Args:
        profile: Rules as they are in force.
        stack: Name of the stack, which says what is wanted; empty for the profile itself.
        by: What weakens them: a file, or the settings of the stack.
        place_of: Name of a rule to where its level is written.
        root: Folder of the project, whose history says since when; None for none.
    """
    wanted = environment_of(stack) if stack else profile.environment
    found: list[Weakening] = list(weakenings(profile, wanted))
    if found:
        places = {each: place_of(each.rule) for each in found}
        dates = dict.fromkeys(_since(place, root) for place in places.values())
        yield PolicyFinding(
            rule=RULE_WEAKENED,
            verdict=Verdict.VIOLATED,
            is_mandatory=False,
            severity=Severity.MEDIUM,
            ref=_THE_STACK,
            expected=f"the levels of profile {wanted}",
            found=f"by {by}: {in_words(found)}; {', '.join(dates)}",
            remedy="restore the levels, or waive single objects with a PolicyException",
            location=next(iter(places.values())),
        )


def place_of_rule(fleet: Fleet, rule: str) -> SourceLocation:
    """Where the settings of a stack speak of a rule, or of all rules."""
    return fleet.settings_origin.nearest(("policy", "rules", rule)).value_location


def _since(location: SourceLocation | None, root: Path | None) -> str:
    """Since when a line is as it is, by Git."""
    authors = None
    if location is not None and location.line and root is not None:
        authors = authors_of_lines(root, location.file, location.line, location.line)
    if authors is None:
        return "since when is unknown"
    newest = max(authors, key=lambda each: each.day or "9")
    return f"since {newest.day} ({newest.commit})" if newest.commit else "not committed yet"


def weakened_in_stack(profile: Profile, context: StackContext) -> tuple[PolicyFinding, ...]:
    """The same of a stack, by its own settings."""
    by = f"the settings of stack {context.name}"
    return tuple(
        weakened_findings(
            profile, context.name, by, partial(place_of_rule, context.fleet), context.root
        )
    )


def unasked(profile: Profile) -> tuple[NotChecked, ...]:
    """That nothing was judged, where every rule is disabled."""
    return (NotChecked("rules", "every rule is disabled"),) if asks_nothing(profile) else ()
