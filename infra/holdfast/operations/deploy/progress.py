"""What an update has done of what was previewed, and what it has not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.adapters.engine.run.events import Event, ResourceStep, StepDone
from holdfast.operations.progress import Progress

_UNCHANGED = ("same", "refresh", "read")


@dataclass(frozen=True)
class UpdateProgress:
    """The progress of one update, resource by resource."""

    progress: Progress
    _planned: dict[str, ResourceStep] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)

    def plan(self, steps: Iterable[ResourceStep]) -> None:
        """Take what a preview would do, and say it."""
        self._planned.clear()
        for step in steps:
            if step.reference is not None:
                self._planned[step.urn] = step
                self.progress.step(f"would {step.operation:<8} {step.reference}")

    def take(self, event: Event) -> None:
        """Take what the engine has done, and say it."""
        if isinstance(event, StepDone) and event.step.reference is not None:
            step = event.step
            self._done.add(step.urn)
            if step.operation not in _UNCHANGED:
                self.progress.step(f"  {step.operation:<8} {step.reference}")

    def left(self) -> tuple[ResourceStep, ...]:
        """What was planned and is not done; it is said, too."""
        left = tuple(step for urn, step in self._planned.items() if urn not in self._done)
        if left:
            self.progress.note(f"not done: {len(left)} of {len(self._planned)} objects")
        for step in left:
            self.progress.note(f"  {step.operation:<8} {step.reference}")
        return left


def changes_in_words(changes: Mapping[str, int]) -> str:
    """How many resources were changed, in words; `no changes` when none was."""
    changed = {key: value for key, value in changes.items() if key not in _UNCHANGED}
    return ", ".join(f"{count} {key}" for key, count in sorted(changed.items())) or "no changes"
