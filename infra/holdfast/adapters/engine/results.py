"""What one run of the engine amounts to, gathered from its events."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from holdfast.adapters.engine.run.event_stream import decode_event
from holdfast.adapters.engine.run.events import (
    UNCHANGED_OPERATIONS,
    Diagnostic,
    Event,
    PolicyRemediation,
    PolicySummary,
    PolicyViolation,
    ResourceStep,
    StepDone,
    StepFailed,
    StepStarted,
    Summary,
    UnreadLine,
)


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
        judged: What each resource, and the stack as a whole, passed and failed.
        resources: Newest step of each resource by its URN, unchanged ones included.
        has_ended: The engine has said its last word.
        remediations: What rules changed before the engine compared.
        unread: Events that could not be read, by name; an empty name for a line that names none.
            A warning among the diagnostics says so.
        unfinished: Steps that were begun and not done, or failed, when the run ended.
    """

    action: str
    counts: dict[str, int]
    steps: tuple[ResourceStep, ...]
    drifted: tuple[ResourceStep, ...]
    unhealthy: tuple[ResourceStep, ...]
    violations: tuple[PolicyViolation, ...]
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    judged: tuple[PolicySummary, ...] = ()
    resources: Mapping[str, ResourceStep] = {}
    has_ended: bool = False
    remediations: tuple[PolicyRemediation, ...] = ()
    unread: Mapping[str, int] = {}
    unfinished: tuple[ResourceStep, ...] = ()

    @property
    def object_counts(self) -> dict[str, int]:
        """Operation to number of Kubernetes objects: without components and providers."""
        others = Counter(each.operation for each in self.steps if each.reference is None)
        return dict(Counter(self.counts) - others)

    @property
    def unread_events(self) -> str:
        """Names of the events that are missing here, with their numbers; empty when none is."""
        named = {name: count for name, count in self.unread.items() if name}
        return ", ".join(f"{count} {name}" for name, count in sorted(named.items()))

    @property
    def has_unread_verdicts(self) -> bool:
        """Whether something that the policy pack said is missing here."""
        return any(UnreadLine(name).is_verdict for name in self.unread)

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
        self._judged: list[PolicySummary] = []
        self._resources: dict[str, ResourceStep] = {}
        self._has_ended = False
        self._remediations: list[PolicyRemediation] = []
        self._unread: Counter[str] = Counter()
        self._unfinished: dict[str, ResourceStep] = {}

    def add(self, event: Event | UnreadLine) -> None:
        """Take one event in."""
        if isinstance(event, StepStarted | StepDone | StepFailed):
            self._follow(event.step, is_done=isinstance(event, StepDone))
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
            case PolicySummary():
                self._judged.append(event)
            case PolicyRemediation():
                self._remediations.append(event)
            case UnreadLine(kind):
                self._unread[kind] += 1
            case Summary(counts):
                self._counts = dict(counts)
                self._has_ended = True

    def result(self, seconds: float) -> RunResult:
        """The outcome of the events so far."""
        return RunResult(
            action=self._action,
            counts=self._counts,
            steps=tuple(self._steps.values()),
            drifted=tuple(self._drifted.values()),
            unhealthy=tuple(self._unhealthy.values()),
            violations=tuple(self._violations),
            diagnostics=(*self._diagnostics, *self._unread_warnings()),
            seconds=seconds,
            judged=tuple(self._judged),
            resources=self._resources,
            has_ended=self._has_ended,
            remediations=tuple(self._remediations),
            unread=dict(self._unread),
            unfinished=tuple(self._unfinished.values()),
        )

    def _unread_warnings(self) -> Iterator[Diagnostic]:
        if count := self._unread.total():
            names = ", ".join(sorted(name or "no event" for name in self._unread))
            yield Diagnostic(
                "warning",
                f"lines of the engine that could not be read: {count} ({names}); what they say is "
                "missing; update Holdfast",
            )

    def _follow(self, step: ResourceStep, *, is_done: bool) -> None:
        self._resources[step.urn] = step
        if is_done:
            self._unfinished.pop(step.urn, None)
        elif step.operation not in UNCHANGED_OPERATIONS:
            self._unfinished[step.urn] = step

    def _plan(self, step: ResourceStep) -> None:
        if step.operation in UNCHANGED_OPERATIONS:
            return
        # A step is reported when it starts and when it is done; the later word knows more.
        self._steps[step.urn, step.operation] = step

    def _compare(self, step: ResourceStep) -> None:
        """Take in what a refresh found; without a difference an `update` is a matter of health."""
        if step.operation == "delete" or step.differences:
            self._drifted[step.urn] = step
        elif step.initialisation_errors:
            self._unhealthy[step.urn] = step


def read_result(action: str, lines: Iterable[bytes]) -> RunResult:
    """The outcome of a run whose lines were saved."""
    recorder = RunRecorder(action)
    for line in lines:
        if (event := decode_event(line)) is not None:
            recorder.add(event)
    return recorder.result(0.0)
