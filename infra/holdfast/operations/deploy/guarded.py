"""An update that is watched afterwards, and rolled back where it made things worse."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import msgspec

from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Commit, commit_named
from holdfast.adapters.http.prometheus import query_number
from holdfast.adapters.tracing.spans import Tracer
from holdfast.errors import EngineError, ExitCode, HoldfastError, InputError
from holdfast.kube.workload_status import Health, HealthVerdict
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.updates import WatchedMetric
from holdfast.operations.deploy.aftermath import PostUpdateCheck, excused_agents
from holdfast.operations.deploy.commit import deploy_commit
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.deploy.update import StackUpdate, UpdatePlan
from holdfast.operations.deploy.waves import HealthGate, WaveFailedError, plan_waves
from holdfast.operations.scan.health import HealthReader
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import update_records
from holdfast.operations.tracing import step

ROLLBACK = "automatic-rollback"
_NOT_THE_COMMITS_FAULT = (ExitCode.CANCELLED, ExitCode.AUTHENTICATION, ExitCode.POLICY)


class UpdateDegradedError(EngineError):
    """An update after which something was worse; the message says what, and what was done.

    Attributes:
        was_rolled_back: The stack was brought back to its last good commit.
    """

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        exit_code: ExitCode | None = None,
        was_rolled_back: bool = False,
    ) -> None:
        super().__init__(message, remedy=remedy, exit_code=exit_code)
        self.was_rolled_back = was_rolled_back


@dataclass(frozen=True)
class RollbackResult:
    """What came of rolling an update back: in words, and whether it was."""

    words: str
    is_done: bool = False


@dataclass(frozen=True)
class _Before:
    """What an update found.

    Attributes:
        metrics: Metric to its value, where that was known.
        excused: Agents that were not healthy and of which nothing is updated, and why.
        good: Last commit that the stack was brought to; None without one to go back to.
    """

    metrics: Mapping[str, float]
    excused: Mapping[str, str]
    good: Commit | None


class _SystemClock:
    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True)
class _Prometheus:
    environment: Environment

    def value(self, metric: WatchedMetric) -> float:
        url = self.environment.updates.prometheus_url or self.environment.telemetry.prometheus_url
        assert url is not None  # noqa: S101  (the settings' check requires one for metrics)
        return query_number(url, metric.query)


@dataclass(frozen=True)
class GuardedUpdate:
    """One update as the stack's file says: in waves, watched, rolled back.

    Attributes:
        update: The update.
        home: The stack in a project of the same repository whose folder stays, from which an
            earlier commit is checked out.
    """

    update: StackUpdate
    home: StackContext

    def run(self) -> UpdateRecord:
        """Plan, update, watch; roll back where the stack's file asks for that.

        Raises:
            InputError: the files are not committed, or not valid; nothing was begun.
            EngineError: refused, failed, or worse afterwards; the history says why.
        """
        return self.apply(self.update.plan())

    def apply(self, plan: UpdatePlan) -> UpdateRecord:
        """The same from a plan on.

        Raises:
            EngineError: failed, or worse afterwards; the history says why.
        """
        update, settings = self.update, self._environment.updates
        if update.request.continue_on_error and (settings.waves or settings.rollback):
            raise InputError(
                "--continue-on-error has no effect on this stack: holdfast:updates has waves or "
                "rollback, which end or take back the update",
                remedy="omit it",
            )
        plan = update.begin(plan)
        before = self._before(plan)
        waves = plan_waves(update.context, plan.preview.steps) if settings.waves else ()
        try:
            record = update.run(
                plan,
                waves,
                HealthGate(self._reader, before.excused),
                continue_on_error=update.request.continue_on_error or settings.continue_on_error,
            )
        except EngineError as error:
            if not (settings.rollback and _has_begun(error)):
                raise
            result = self._roll_back(before.good, error.message)
            raise UpdateDegradedError(
                f"{error.message}; {result.words}",
                remedy=error.remedy,
                exit_code=error.exit_code,
                was_rolled_back=result.is_done,
            ) from error
        return self._watch(record, before) if settings.watch_seconds else record

    @property
    def tracer(self) -> Tracer:
        """Records the steps."""
        return self.update.tracer

    @step("watch")
    def _watch(self, record: UpdateRecord, before: _Before) -> UpdateRecord:
        """Watch for a while, and roll back if it got worse."""
        settings, progress = self._environment.updates, self.update.progress
        progress.step(f"watching health and metrics for {settings.watch_seconds} s")
        check = PostUpdateCheck(
            self._reader, self._prometheus, settings.metrics, before.metrics, before.excused
        )
        found = check.watch(settings.watch_seconds, _SystemClock())
        for each in found.unknown:
            progress.note(f"not known: {each}")
        recorder = self.update.recorder
        if not found.worse:
            detail = "; ".join(f"not known: {each}" for each in found.unknown)
            return recorder.add(msgspec.structs.replace(record, detail=detail))
        recorder.add(msgspec.structs.replace(record, outcome="failed", detail=found.worse))
        result = self._roll_back(before.good, found.worse)
        raise UpdateDegradedError(
            f"the update made things worse: {found.worse}; {result.words}",
            was_rolled_back=result.is_done,
        )

    @step("go back")
    def _roll_back(self, good: Commit | None, why: str) -> RollbackResult:
        """Roll the update back, once; says what was done."""
        update, name = self.update, self.update.context.name
        if not self._environment.updates.rollback:
            return RollbackResult(
                f"run `holdfast rollback -s {name} COMMIT --reason ...` to go back"
            )
        if good is None:
            update.progress.note("no earlier good commit is known: nothing is rolled back")
            return RollbackResult("no earlier good commit is known, so nothing was rolled back")
        source = update.recorder.source
        blamed = source.commit.short if source else "the update"
        update.progress.step(f"rolling back to {good.short}: {why}")
        request = UpdateRequest(
            action=ROLLBACK, reason=f"{blamed}: {why}", pack=update.request.pack, recover=True
        )
        try:
            deploy_commit(self.home, good, request, update.progress, update.tracer)
        except HoldfastError as error:
            return RollbackResult(f"the rollback to {good.short} failed: {error.message}")
        return RollbackResult(f"rolled back to {good.short}", is_done=True)

    def _before(self, plan: UpdatePlan) -> _Before:
        settings, progress = self._environment.updates, self.update.progress
        metrics: dict[str, float] = {}
        for metric in settings.metrics:
            try:
                metrics[metric.name] = self._prometheus.value(metric)
            except HoldfastError as error:
                progress.note(f"metric {metric.name} before the update: {error.message}")
        excused = {}
        if settings.waves or settings.watch_seconds:
            excused = excused_agents(self._health_before(), plan.agents)
        for name, why in excused.items():
            progress.note(f"agent {name} is not updated and was not healthy before: {why}")
        return _Before(metrics, excused, self._last_good_commit() if settings.rollback else None)

    def _health_before(self) -> Mapping[str, HealthVerdict]:
        try:
            return self._reader.health()
        except HoldfastError as error:
            self.update.progress.note(f"health before the update: {error.message}")
            unknown = HealthVerdict(Health.UNKNOWN, error.message)
            return {each.name: unknown for each in self.update.context.fleet.workloads}

    def _last_good_commit(self) -> Commit | None:
        """The commit that the stack was last brought to, if it is another one and known here."""
        source = self.update.recorder.source
        records = update_records(self.home.root, self.home.name)
        good = next((each for each in reversed(records) if _is_good(each)), None)
        if good is None or (source is not None and good.commit == source.commit.name):
            return None
        try:
            return commit_named(self.home.root, good.commit)
        except HoldfastError:
            return None

    @cached_property
    def _reader(self) -> HealthReader:
        return HealthReader(self.update.context)

    @property
    def _environment(self) -> Environment:
        """The settings of the stack, as the commit has them."""
        return self.update.context.environment

    @property
    def _prometheus(self) -> _Prometheus:
        return _Prometheus(self._environment)


def _has_begun(error: EngineError) -> bool:
    """Whether an update failed on the way, by its own fault."""
    if isinstance(error, RunFailedError):
        return bool(error.result.steps) and error.exit_code not in _NOT_THE_COMMITS_FAULT
    return isinstance(error, WaveFailedError)


def _is_good(record: UpdateRecord) -> bool:
    return record.has_succeeded and bool(record.commit) and not record.is_dirty
