"""What an update has done of what was previewed, and what it has not. Wiring."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from holdfast.adapters.engine.run.events import Event, ResourceStep, StepDone

_UNTOLD = ("same", "refresh", "read")


@dataclass(frozen=True)
class UpdateProgress:
    """The progress of one update.

    Attributes:
        tell: Takes lines of progress.
    """

    tell: Callable[[str], None]
    _planned: dict[str, ResourceStep] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)

    def plan(self, steps: Iterable[ResourceStep]) -> None:
        """Take what a preview would do, and tell it."""
        for step in steps:
            if step.reference is not None:
                self._planned[step.urn] = step
                self.tell(f"would {step.operation:<8} {step.reference}")

    def take(self, event: Event) -> None:
        """Take what the engine has done, and tell it."""
        if isinstance(event, StepDone) and event.step.reference is not None:
            step = event.step
            self._done.add(step.urn)
            if step.operation not in _UNTOLD:
                self.tell(f"  {step.operation:<8} {step.reference}")

    def tell_left(self) -> tuple[ResourceStep, ...]:
        """Tell what was planned and is not done; it is what is returned."""
        left = tuple(step for urn, step in self._planned.items() if urn not in self._done)
        if left:
            self.tell(f"not done: {len(left)} of {len(self._planned)} objects")
        for step in left:
            self.tell(f"  {step.operation:<8} {step.reference}")
        return left
