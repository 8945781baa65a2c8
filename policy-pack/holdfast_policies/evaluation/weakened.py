"""What settings take away from a profile: rules that ask less than their environment wants.

A run in which a rule was weakened says so wherever it says anything, and one in which no rule was
asked is never "no violation".
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast_policies.evaluation.profile import Profile
from holdfast_policies.model.rule import Environment, Level

RULE_WEAKENED = "rule-weakened"
NO_RULE_ASKED = "no-rule-asked"
"""What both are called, as if they were rules."""

_STRENGTH = {Level.DISABLED: 0, Level.ADVISORY: 1, Level.MANDATORY: 2, Level.REMEDIATE: 2}


@dataclass(frozen=True, slots=True)
class Weakening:
    """One rule that asks less than its profile wants.

    Attributes:
        rule: Its name.
        usual: Level in the profile.
        level: Level in force.
        applies_to: What it is limited to by settings; empty where they do not limit it.
    """

    rule: str
    usual: Level
    level: Level
    applies_to: str = ""

    def __str__(self) -> str:
        only = f", only {self.applies_to}" if self.applies_to else ""
        return f"{self.rule} ({self.usual} → {self.level}{only})"


def weakenings(profile: Profile, environment: Environment | None = None) -> Iterator[Weakening]:
    """Rules of a profile that ask less than an environment wants, in the order of the table.

    Args:
        profile: Rules as they are in force.
        environment: What is compared with; None for the profile's own.
    """
    wanted = environment or profile.environment
    for ruling in profile.rulings:
        usual = ruling.rule.levels.of(wanted)
        given = ruling.applies_to
        limited = str(given) if given is not None and given != ruling.rule.applies_to else ""
        is_lower = _STRENGTH[ruling.level] < _STRENGTH[usual]
        if is_lower or (limited and usual is not Level.DISABLED):
            yield Weakening(ruling.rule.id, usual, ruling.level, limited)


def weakenings_between(before: Profile, after: Profile) -> Iterator[str]:
    """What a change of settings takes away, in words.

    Whether other parameters ask for less, nobody can say in general: any change of them counts.
    """
    now = {each.rule.id: each for each in after.rulings}
    for old in before.rulings:
        new, name = now.get(old.rule.id), old.rule.id
        if old.level is Level.DISABLED:
            continue
        if new is None:
            yield f"{name} is gone"
        elif _STRENGTH[new.level] < _STRENGTH[old.level]:
            yield f"{name} ({old.level} → {new.level})"
        elif new.applies_to is not None and new.applies_to != old.applies_to:
            yield f"{name} (only {new.applies_to})"
        else:
            differing = [key for key, value in old.settings.items() if new.settings[key] != value]
            if differing:
                yield f"{name} (other {', '.join(differing)})"


def asks_nothing(profile: Profile) -> bool:
    """Whether every rule is disabled."""
    return all(ruling.level is Level.DISABLED for ruling in profile.rulings)


def in_words(weakened: Iterable[Weakening]) -> str:
    """`2 rules: a (mandatory → advisory), b (mandatory → disabled)`."""
    listed = [str(each) for each in weakened]
    return f"{len(listed)} rule{'' if len(listed) == 1 else 's'}: {', '.join(listed)}"
