"""What all rules say of many objects, passes by name: more than the violations."""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast_policies.evaluation.judge import Judgement, judgements, stack_judgements
from holdfast_policies.evaluation.profile import Profile
from holdfast_policies.model.stack import Hidden, Stack
from holdfast_policies.model.subject import Subject


@dataclass(frozen=True, slots=True)
class Census:
    """What the rules say of one object, or of a stack.

    Attributes:
        subject: The object; None for the stack.
        passed: Names of the rules that it passed, in the order of the table.
        judgements: What the others have against it, or cannot tell.
    """

    subject: Subject | None
    passed: tuple[str, ...]
    judgements: tuple[Judgement, ...]


def census_of(
    subjects: Iterable[Subject], profile: Profile, together: Iterable[Subject] | None = None
) -> list[Census]:
    """What every rule says of every object, and last of all of them as one stack.

    Args:
        subjects: The objects.
        profile: Rules, settings and waivers.
        together: What the stack is, where that is not just the objects.
    """
    found: list[Census] = []
    hidden: list[Hidden] = []
    for subject in subjects:
        said = tuple(judgements(subject, profile))
        hidden += hidden_in(subject, said)
        rules = [
            ruling.rule.id for ruling in profile.for_kind(subject.kind) if ruling.is_about(subject)
        ]
        found.append(Census(subject, _without(rules, said), said))
    if together is None:
        together = [each.subject for each in found if each.subject is not None]
    stack = Stack.of(together, hidden)
    said = tuple(stack_judgements(stack, profile))
    rules = [ruling.rule.id for ruling in profile.stack_rulings]
    return [*found, Census(None, _without(rules, said), said)]


def hidden_in(subject: Subject, said: Iterable[Judgement]) -> list[Hidden]:
    """What mandatory rules could not judge of an object, for the rule about the whole preview."""
    return [
        Hidden(judgement.ruling.rule.id, f"{subject.label}: {each.path}")
        for judgement in said
        if judgement.ruling.level.refuses
        for each in judgement.undecided
    ]


def _without(rules: list[str], said: Iterable[Judgement]) -> tuple[str, ...]:
    others = {judgement.ruling.rule.id for judgement in said}
    return tuple(rule for rule in rules if rule not in others)
