"""Which rules there are: those of the pack, and those that a company adds to them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from holdfast_policies.model.rule import Rule
from holdfast_policies.table import RULES


@dataclass(frozen=True, eq=False)
class RuleSet:
    """All rules that a run evaluates.

    Attributes:
        rules: In the order of the table, a company's own rules last.
        own: Own rule to the file that defines it, as people know the file.
    """

    rules: tuple[Rule, ...]
    own: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> Mapping[str, Rule]:
        """Each rule by its name."""
        return {rule.id: rule for rule in self.rules}


SHIPPED_RULES = RuleSet(RULES)
"""The rules of the pack alone."""


def with_own_rules(own: Iterable[tuple[Rule, str]]) -> RuleSet:
    """The rules of the pack, and own ones, each with its file."""
    added = tuple(own)
    if not added:
        return SHIPPED_RULES
    files = {rule.id: file for rule, file in added}
    return RuleSet((*RULES, *(rule for rule, _ in added)), files)
