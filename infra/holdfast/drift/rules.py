"""Which rules of the policy pack a drifted object newly breaks, and which finding breaks which.

The pack is not imported here: the caller passes a function that judges one object.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.drift.compare.difference import Difference
from holdfast.drift.severity import BrokenRule
from holdfast.kube.objects import KubeObject
from holdfast.kube.paths import with_value

RuleJudge = Callable[[Mapping[str, Any]], Mapping[str, BrokenRule]]
"""Judge one object by the rules of the stack: name of each broken rule to the rule."""


def rules_broken_by(
    judge: RuleJudge | None,
    desired: KubeObject,
    live: Mapping[str, Any],
    differences: Sequence[Difference],
) -> list[tuple[BrokenRule, ...]]:
    """Rules newly broken by each difference, in the order of the differences.

    A rule is newly broken when it holds for the declared object and not for the live one. Which
    difference breaks it is found by making each change alone; a rule that only several changes
    together break is held against all of them.
    """
    nothing: list[tuple[BrokenRule, ...]] = [() for _ in differences]
    if judge is None or not differences:
        return nothing
    before = judge(desired)
    newly = {name: rule for name, rule in judge(live).items() if name not in before}
    if not newly:
        return nothing
    if len(differences) == 1:
        return [_sorted(newly.values())]
    alone = [
        {
            name
            for name in judge(with_value(desired, difference.path, difference.live))
            if name in newly
        }
        for difference in differences
    ]
    together = set(newly) - set().union(*alone)
    return [_sorted(newly[name] for name in names | together) for names in alone]


def _sorted(rules: Any) -> tuple[BrokenRule, ...]:  # noqa: ANN401  (any iterable of rules)
    return tuple(sorted(rules, key=lambda rule: rule.name))
