"""An update that is watched afterwards, and taken back where it made things worse. Wiring."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Commit, commit_named
from holdfast.adapters.http.prometheus import query_number
from holdfast.adapters.tracing.spans import Tracer
from holdfast.errors import EngineError, ExitCode, HoldfastError, InputError
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.stack_files import read_environment
from holdfast.manifest.stack.updates import WatchedMetric
from holdfast.operations.deploy.aftermath import Clock, Watched
from holdfast.operations.deploy.commit import bring_to
from holdfast.operations.deploy.facts import update_records
from holdfast.operations.deploy.request import Order
from holdfast.operations.deploy.traced import step
from holdfast.operations.deploy.update import Updating
from holdfast.operations.deploy.waves import WaveFailedError, Waves
from holdfast.operations.scan.health import HealthReader
from holdfast.operations.stack.context import StackContext

ROLLBACK = "automatic-rollback"
_NOT_THE_COMMITS_FAULT = (ExitCode.CANCELLED, ExitCode.AUTHENTICATION, ExitCode.POLICY)


class UpdateWorseError(EngineError):
    """An update after which something was worse; the message says what, and what was done.

    Attributes:
        went_back: The stack was brought back to its last good commit.
    """

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        exit_code: ExitCode | None = None,
        went_back: bool = False,
    ) -> None:
        super().__init__(message, remedy=remedy, exit_code=exit_code)
        self.went_back = went_back


@dataclass(frozen=True)
class _WayBack:
    """What came of taking an update back: in words, and whether it was."""

    words: str
    is_done: bool = False


def careful_update(order: Order, home: Path) -> UpdateRecord:
    """Update a stack as its file says: watched afterwards, taken back where that is asked for.

    Args:
        order: What is to be done.
        home: A project of the same repository whose folder stays, from which an earlier commit
            is checked out.

    Raises:
        InputError: the files are not committed, or not valid; nothing was begun.
        EngineError: refused, failed, or worse afterwards; the history says why.
    """
    careful = CarefulUpdate(Updating(order), home)
    return careful.run()


@dataclass(frozen=True)
class CarefulUpdate:
    """One update and its aftermath."""

    updating: Updating
    home: Path

    def run(self) -> UpdateRecord:
        """Judge, update, watch; go back where that is asked for."""
        return self.do(*self.updating.judge())

    def do(self, policy: str, planned: RunResult) -> UpdateRecord:
        """The same from the update on: the files have been judged."""
        updating = self.updating
        settings, order = self.environment.updates, updating.order
        if order.continues_on_error and (settings.waves or settings.rollback):
            raise InputError(
                "--continue-on-error has no effect on this stack: holdfast:updates has waves or "
                "rollback, which end or take back the update",
                remedy="leave it out",
            )
        waves = Waves(order.root, order.stack).of(planned.steps) if settings.waves else ()
        before = {
            metric.name: value for metric in settings.metrics for value in self._value(metric)
        }
        good = self._last_good_commit() if settings.rollback else None
        try:
            record = updating.do(
                updating.account.record(policy=policy),
                waves,
                continues_on_error=order.continues_on_error or settings.continue_on_error,
            )
        except EngineError as error:
            if not (settings.rollback and _has_begun(error)):
                raise
            back = self._go_back(good, error.message)
            raise UpdateWorseError(
                f"{error.message}; {back.words}",
                remedy=error.remedy,
                exit_code=error.exit_code,
                went_back=back.is_done,
            ) from error
        if not settings.watch_seconds:
            return record
        return self._watched(record, before, good)

    @property
    def tracer(self) -> Tracer:
        """Records the steps."""
        return self.updating.tracer

    @step("watch")
    def _watched(
        self, record: UpdateRecord, before: Mapping[str, float], good: Commit | None
    ) -> UpdateRecord:
        """Watch for a while, and go back if it got worse."""
        updating, settings = self.updating, self.environment.updates
        updating.order.tell(f"watching health and metrics for {settings.watch_seconds} s")
        reader = HealthReader(StackContext(updating.order.root, updating.order.stack))
        watched = Watched(
            reader.health,
            self._number,
            settings.metrics,
            before,
        )
        found = watched.watch(settings.watch_seconds, Clock(time.monotonic, time.sleep))
        for each in found.unknown:
            updating.order.tell(f"not known: {each}")
        if not found.worse:
            detail = "; ".join(f"not known: {each}" for each in found.unknown)
            return updating.account.add(msgspec.structs.replace(record, detail=detail))
        updating.account.add(msgspec.structs.replace(record, outcome="failed", detail=found.worse))
        back = self._go_back(good, found.worse)
        raise UpdateWorseError(
            f"the update made things worse: {found.worse}; {back.words}", went_back=back.is_done
        )

    @property
    def environment(self) -> Environment:
        """The settings of the stack, as the commit has them."""
        order = self.updating.order
        return read_environment(order.root, order.stack)

    @step("go back")
    def _go_back(self, good: Commit | None, why: str) -> _WayBack:
        """Take the update back, once; says what was done."""
        order = self.updating.order
        if not self.environment.updates.rollback:
            return _WayBack(
                f"run `holdfast rollback -s {order.stack} COMMIT --reason ...` to go back"
            )
        if good is None:
            order.tell("no earlier good commit is known: nothing is rolled back")
            return _WayBack("no earlier good commit is known, so nothing was rolled back")
        source = self.updating.account.source
        name = source.commit.short if source else "the update"
        order.tell(f"rolling back to {good.short}: {why}")
        back = Order(
            self.home,
            order.stack,
            action=ROLLBACK,
            reason=f"{name}: {why}",
            pack=order.pack,
            recovers=True,
            tell=order.tell,
            tracer=order.tracer,
        )
        try:
            bring_to(back, good, lambda _: None)
        except HoldfastError as error:
            return _WayBack(f"the rollback to {good.short} failed: {error.message}")
        return _WayBack(f"rolled back to {good.short}", is_done=True)

    def _last_good_commit(self) -> Commit | None:
        """The commit that the stack was last brought to, if it is another one and known here."""
        source = self.updating.account.source
        records = update_records(self.home, self.updating.order.stack)
        good = next((each for each in reversed(records) if _is_good(each)), None)
        if good is None or (source is not None and good.commit == source.commit.name):
            return None
        try:
            return commit_named(self.home, good.commit)
        except HoldfastError:
            return None

    def _value(self, metric: WatchedMetric) -> list[float]:
        try:
            return [self._number(metric)]
        except HoldfastError as error:
            self.updating.order.tell(f"metric {metric.name} before the update: {error.message}")
            return []

    def _number(self, metric: WatchedMetric) -> float:
        environment = self.environment
        url = environment.updates.prometheus_url or environment.telemetry.prometheus_url
        assert url is not None  # noqa: S101  (the settings' check has looked)
        return query_number(url, metric.query)


def _has_begun(error: EngineError) -> bool:
    """Whether an update failed on the way, by its own fault."""
    if isinstance(error, RunFailedError):
        return bool(error.result.steps) and error.exit_code not in _NOT_THE_COMMITS_FAULT
    return isinstance(error, WaveFailedError)


def _is_good(record: UpdateRecord) -> bool:
    return record.has_succeeded and bool(record.commit) and not record.is_dirty
