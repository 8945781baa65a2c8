"""What settings take away from a profile: rules that ask less than their environment wants.

A run in which a rule was weakened says so wherever it says anything, and one in which no rule was
asked is never "no violation".
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast_policies.profile import Profile
from holdfast_policies.rule import Environment, Level

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
    """

    rule: str
    usual: Level
    level: Level

    def __str__(self) -> str:
        return f"{self.rule} ({self.usual} → {self.level})"


def weakenings(profile: Profile, environment: Environment | None = None) -> Iterator[Weakening]:
    """Rules of a profile that ask less than an environment wants, in the order of the table.

    Args:
        profile: Rules as they are in force.
        environment: What is compared with; None for the profile's own.
    """
    wanted = environment or profile.environment
    for ruling in profile.rulings:
        usual = ruling.rule.levels.of(wanted)
        if _STRENGTH[ruling.level] < _STRENGTH[usual]:
            yield Weakening(ruling.rule.id, usual, ruling.level)


def asks_nothing(profile: Profile) -> bool:
    """Whether every rule is disabled."""
    return all(ruling.level is Level.DISABLED for ruling in profile.rulings)


def in_words(weakened: Iterable[Weakening]) -> str:
    """`2 rules: a (mandatory → advisory), b (mandatory → disabled)`."""
    listed = [str(each) for each in weakened]
    return f"{len(listed)} rule{'' if len(listed) == 1 else 's'}: {', '.join(listed)}"
