"""What one run of the engine amounts to, gathered from its events."""

import msgspec

from holdfast.engine.events import (
    Diagnostic,
    Event,
    PolicyViolation,
    ResourceStep,
    StepDone,
    StepFailed,
    StepStarted,
    Summary,
)

_UNCHANGED = ("same", "refresh")


class RunResult(msgspec.Struct, frozen=True):
    """The outcome of a preview, refresh, update or destroy.

    Attributes:
        action: `preview`, `refresh`, `up` or `destroy`.
        counts: Operation to number of resources, components and providers included.
        steps: What changed or would change, in the order of the engine; unchanged ones left out.
        drifted: What a refresh, alone or before a preview, found to differ from the record.
        unhealthy: Objects as recorded but not ready.
        violations: Rules broken, of every level.
        diagnostics: Messages of severity `info` and above.
        seconds: Wall clock.
    """

    action: str
    counts: dict[str, int]
    steps: tuple[ResourceStep, ...]
    drifted: tuple[ResourceStep, ...]
    unhealthy: tuple[ResourceStep, ...]
    violations: tuple[PolicyViolation, ...]
    diagnostics: tuple[Diagnostic, ...]
    seconds: float

    @property
    def has_changes(self) -> bool:
        """Whether any resource changed, or would."""
        return bool(self.steps)

    @property
    def has_drift(self) -> bool:
        """Whether a refresh found something that differs from the record."""
        return bool(self.drifted)

    @property
    def mandatory_violations(self) -> tuple[PolicyViolation, ...]:
        """The violations that refuse the run."""
        return tuple(violation for violation in self.violations if violation.is_mandatory)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What failed."""
        return tuple(d for d in self.diagnostics if d.severity == "error")


class RunRecorder:
    """Gathers the events of one run."""

    def __init__(self, action: str) -> None:
        self._action = action
        self._counts: dict[str, int] = {}
        self._steps: dict[tuple[str, str], ResourceStep] = {}
        self._refreshing: set[str] = set()
        self._drifted: dict[str, ResourceStep] = {}
        self._unhealthy: dict[str, ResourceStep] = {}
        self._violations: list[PolicyViolation] = []
        self._diagnostics: list[Diagnostic] = []

    def add(self, event: Event) -> None:
        """Take one event in."""
        match event:
            case StepStarted(step) if step.operation == "refresh":
                self._refreshing.add(step.urn)
            case StepStarted(step) | StepFailed(step):
                self._plan(step)
            case StepDone(step) if step.urn in self._refreshing:
                self._refreshing.discard(step.urn)
                self._compare(step)
            case StepDone(step):
                self._plan(step)
            case Diagnostic():
                self._diagnostics.append(event)
            case PolicyViolation():
                self._violations.append(event)
            case Summary(counts):
                self._counts = dict(counts)

    def result(self, seconds: float) -> RunResult:
        """The outcome of the events so far."""
        return RunResult(
            action=self._action,
            counts=self._counts,
            steps=tuple(self._steps.values()),
            drifted=tuple(self._drifted.values()),
            unhealthy=tuple(self._unhealthy.values()),
            violations=tuple(self._violations),
            diagnostics=tuple(self._diagnostics),
            seconds=seconds,
        )

    def _plan(self, step: ResourceStep) -> None:
        if step.operation in _UNCHANGED:
            return
        # A step is told when it starts and when it is done; the later word knows more.
        self._steps[step.urn, step.operation] = step

    def _compare(self, step: ResourceStep) -> None:
        """Take in what a refresh found; without a difference an `update` is a matter of health."""
        if step.operation == "delete" or step.differences:
            self._drifted[step.urn] = step
        elif step.initialisation_errors:
            self._unhealthy[step.urn] = step
