"""What a planned update would do, short enough to be read before it is confirmed."""

from collections.abc import Iterator
from typing import Final

from holdfast.operations.deploy.recorder import ADOPT, KEEP, changes_in_words, counted_apart
from holdfast.operations.deploy.update import UpdatePlan

_LOST: Final = ("delete", "replace")
_MOST_NAMED: Final = 20


def has_changes(plan: UpdatePlan) -> bool:
    """Whether the update would change anything, be it the engine's own resources alone."""
    return bool(plan.preview.steps or plan.kept)


def is_same_change(one: UpdatePlan, other: UpdatePlan) -> bool:
    """Whether two plans do the same to the same resources; counts alone may agree by chance."""
    return _fates(one) == _fates(other)


def _fates(plan: UpdatePlan) -> frozenset[tuple[str, str]]:
    steps = {(each.urn, each.operation) for each in plan.preview.steps}
    return frozenset(steps | {(each.urn, KEEP) for each in plan.kept})


def summary_lines(plan: UpdatePlan) -> tuple[str, ...]:
    """How many objects have which fate, then each one that is deleted or replaced."""
    counts = {**plan.preview.object_counts, KEEP: len(plan.kept)}
    words = changes_in_words(counted_apart(counts, "create", ADOPT, len(plan.adopted)))
    lost = sorted(_lost(plan))
    more = [f"  and {len(lost) - _MOST_NAMED} more"] if len(lost) > _MOST_NAMED else []
    return (words, *lost[:_MOST_NAMED], *more)


def _lost(plan: UpdatePlan) -> Iterator[str]:
    kept = {each.urn for each in plan.kept}
    for step in plan.preview.steps:
        if step.operation in _LOST and step.reference is not None and step.urn not in kept:
            yield f"  {step.operation:<8} {step.reference}"
