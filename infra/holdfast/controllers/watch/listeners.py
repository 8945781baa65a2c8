"""Listeners of `holdfast drift watch`: the terminal, the webhook, a file of metrics."""

from collections.abc import Sequence
from datetime import UTC, datetime

from holdfast.adapters.http.webhook import Webhook
from holdfast.controllers.runtime.log import Output
from holdfast.controllers.watch.metrics import MetricsFile
from holdfast.drift.cause.causes import CauseEvent
from holdfast.drift.finding import Finding, NotChecked
from holdfast.drift.record.ledger import FindingEvent, Timestamp
from holdfast.drift.record.watch_report import Evaluation, Listener, Reading, Status, WatchState
from holdfast.kube.text import safe_text
from holdfast.report.documents.drift_event import (
    cause_cloud_event,
    cause_json,
    cloud_event,
    event_json,
    state_json,
)
from holdfast.report.documents.json_text import json_line
from holdfast.report.text.event_text import (
    cause_text,
    event_text,
    phase_lines,
    rfc3339,
    state_text,
)


class EventPrinter(Listener):
    """A line for each transition of a finding and of the state; phases and streams go to the log.

    As text, findings with one cause are one line: all lines wait until a round of evaluations is
    over. Beside text, phases are logged only on request.
    """

    def __init__(self, stack: str, lines: Output, *, as_json: bool, is_verbose: bool) -> None:
        self._stack = stack
        self._lines = lines
        self._is_json = as_json
        self._is_verbose = is_verbose
        self._colour = lines.has_colour
        self._printed: tuple[Status, tuple[NotChecked, ...]] | None = None

    def evaluated(self, evaluation: Evaluation) -> None:
        """Print what became of findings."""
        if self._is_json:
            for event in evaluation.events:
                self._lines.write(json_line(event_json(evaluation, event, self._stack)))
        if self._is_verbose or (self._is_json and evaluation.events):
            for line in phase_lines(evaluation):
                self._lines.note(line)

    def flushed(
        self, events: Sequence[FindingEvent], causes: Sequence[tuple[str, CauseEvent]]
    ) -> None:
        """Print the findings without a common cause, and the causes of the others."""
        if self._is_json:
            for name, cause in causes:
                self._lines.write(json_line(cause_json(name, cause, self._stack)))
            return
        for event in events:
            self._lines.write(event_text(event, colour=self._colour))
        for _, cause in causes:
            self._lines.write(cause_text(cause, colour=self._colour))

    def read(self, reading: Reading) -> None:
        """Log what was read whole."""
        if self._is_verbose:
            self._log(
                f'phase=read place="{safe_text(reading.place)}" objects={reading.objects} '
                f"unchanged={reading.unchanged} took={reading.seconds:.3f}s"
            )

    def restarted(self, kind: str, reason: str) -> None:
        """Log why a stream began again."""
        self._log(f'phase=restart kind={safe_text(kind)} reason="{safe_text(reason)}"')

    def status_changed(
        self, state: WatchState, open_findings: Sequence[tuple[Finding, Timestamp]]
    ) -> None:
        """Print the state when it is another one."""
        now = (state.status, state.not_checked)
        if now == self._printed:
            return
        self._printed = now
        time = datetime.now(UTC)
        if self._is_json:
            self._lines.write(json_line(state_json(state, time, self._stack)))
        else:
            self._lines.write(state_text(state, time, colour=self._colour))

    def _log(self, text: str) -> None:
        self._lines.note(f"time={rfc3339(datetime.now(UTC))} {text}")


class WebhookListener(Listener):
    """Sends each turn of a finding."""

    def __init__(self, stack: str, webhook: Webhook) -> None:
        self._stack = stack
        self._webhook = webhook

    def evaluated(self, evaluation: Evaluation) -> None:
        """Send what became of findings."""
        for number, event in enumerate(evaluation.events, 1):
            self._webhook.send(cloud_event(evaluation, event, number, self._stack))

    def flushed(
        self, events: Sequence[FindingEvent], causes: Sequence[tuple[str, CauseEvent]]
    ) -> None:
        """Send what is behind several findings; those were sent already."""
        for name, cause in causes:
            self._webhook.send(cause_cloud_event(name, cause, self._stack))

    def ended(self) -> None:
        """Deliver what waits."""
        self._webhook.close()


class MetricsFileListener(Listener):
    """Writes the file of metrics now and then."""

    def __init__(self, file: MetricsFile) -> None:
        self._file = file

    def status_changed(
        self, state: WatchState, open_findings: Sequence[tuple[Finding, Timestamp]]
    ) -> None:
        """Write the file when it is due."""
        self._file.write_if_due()

    def ended(self) -> None:
        """Write what was counted last."""
        self._file.write()
