"""`holdfast drift --watch`: sources, listeners and signals of the loop. Wiring."""

import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.changes import Change, WatchedKind
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.adapters.cluster.reflector import Connections
from holdfast.adapters.cluster.watch_plan import autoscalers_beside, declared_kinds, kinds_beside
from holdfast.adapters.cluster.writing import read_object
from holdfast.adapters.engine.backend.activity import ActivityReader
from holdfast.adapters.http.webhook import Webhook
from holdfast.controllers.watch.audit_log import FollowedLog
from holdfast.controllers.watch.listeners import LineListener, MetricsFileListener, WebhookListener
from holdfast.controllers.watch.metrics import DriftMetrics, MetricsFile, serve_metrics
from holdfast.controllers.watch.request import WatchRequest
from holdfast.controllers.watch.wanted import Activity, Wanted
from holdfast.controllers.watch.watch_loop import WatchLoop
from holdfast.drift.record.watch_report import Listener
from holdfast.drift.scan import DriftJudge
from holdfast.errors import ExitCode, InputError
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.kube.structure import builtin_kind
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.scan.live import places_beside
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner

WEBHOOK_TOKEN = "HOLDFAST_WEBHOOK_TOKEN"  # noqa: S105  (the name of a variable)


def watch(request: ScanRequest, watching: WatchRequest, output: str, progress: Progress) -> int:
    """Watch until told to end; returns the exit code of a command that was cancelled.

    Raises:
        HoldfastError: the declaration or the cluster cannot be read at the start.
    """
    if request.live:
        raise InputError("a file cannot be watched", remedy="leave --live out to use a cluster")
    if output not in {"text", "json"}:
        raise InputError(f"--watch has no output {output!r}", remedy="choose text or json")
    metrics = DriftMetrics(request.stack)
    listeners: list[Listener] = [
        LineListener(request.stack, output, is_verbose=watching.verbose),
        metrics,
    ]
    webhook = _webhook(watching, metrics)
    if webhook is not None:
        listeners.append(WebhookListener(request.stack, webhook))
    if watching.metrics:
        listeners += _metrics_outlet(watching.metrics, metrics)
    loop = WatchLoop(
        WatchSources(request, watching.silence, progress), listeners, watching.interval
    )
    _stop_when_told(loop)
    try:
        loop.run()
    finally:
        for listener in listeners:
            listener.ended()
    click.echo("ended as told", err=True)
    return ExitCode.CANCELLED


def _webhook(watching: WatchRequest, metrics: DriftMetrics) -> Webhook | None:
    if not watching.webhook:
        return None

    def note(outcome: str, problem: str) -> None:
        metrics.count_delivery(outcome)
        if problem:
            click.echo(f"webhook: event lost: {problem}", err=True)

    return Webhook(watching.webhook, note, os.environ.get(WEBHOOK_TOKEN, ""))


def _metrics_outlet(place: str, metrics: DriftMetrics) -> list[Listener]:
    host, separator, port = place.rpartition(":")
    if separator and port.isdigit():
        served = serve_metrics(metrics, host.strip("[]"), int(port))
        click.echo(f"metrics: http://{host or 'localhost'}:{served}/metrics", err=True)
        return []
    return [MetricsFileListener(MetricsFile(metrics, Path(place)))]


def _stop_when_told(loop: WatchLoop) -> None:
    """The first signal ends the watch in order, the second one at once."""

    def stop(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        loop.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


@dataclass
class WatchSources:
    """Where the loop gets everything from: files, the stack's record, the cluster."""

    request: ScanRequest
    silence_seconds: float
    progress: Progress = SILENT

    def load(self) -> Wanted:
        """Read the declaration, and what the cluster serves of it."""
        sources = self._sources = Scanner(self.request, self.progress)
        cluster = sources.cluster
        with contextlib.suppress(ApiError):  # forbidden, say: what matters is that somebody answers
            cluster.client.get("/version")
        objects = cluster.placed(sources.desired.objects)
        log = self._log
        around = sources.surroundings(objects, cluster.types(), tuple, log)
        places, selector = places_beside(objects, sources.desired.stack)
        refs = [reference_of(one) for one in objects]
        beside = kinds_beside(cluster.kinds.keys(), places, selector)
        kinds = (*declared_kinds(refs, cluster.kinds), *autoscalers_beside(refs), *beside)
        # Log and rules are read now: the first finding should not have to wait for them.
        if around.trail is not None:
            around.trail.read()
        if around.judge is not None and objects:
            around.judge(objects[0])
        judge = DriftJudge(objects, around, sources.desired.stack)
        return Wanted(
            judge,
            kinds,
            frozenset((kind.refs[0].group, kind.kind) for kind in beside),
            sources.desired.half_done,
            sources.desired.not_checked,
            lambda report, only: sources.finished(report, judge, only),
            *(log.sessions_of({ref.namespace for ref in refs}) if log else ()),
        )

    @cached_property
    def _log(self) -> FollowedLog | None:
        file = self._sources.audit_log
        return None if file is None else FollowedLog.of(file)

    @cached_property
    def _activity(self) -> ActivityReader | None:
        if not self.request.stack:
            return None
        reader = ActivityReader(self.request.project_root, self.request.stack)
        if reader.is_blind:
            click.echo(
                f"note: the state of stack {self.request.stack} is in no folder of this machine: "
                "what an update does is told as drift while it runs; start the watch again after "
                "one",
                err=True,
            )
        return reader

    def activity(self) -> Activity:
        """What the stack is up to; nothing, where files are the declaration."""
        if self._activity is None:
            return Activity()
        now = self._activity.read()
        return Activity(now.newest_change, now.is_under_way)

    def watch(
        self,
        kinds: tuple[WatchedKind, ...],
        tell: Callable[[Change], None],
        known: Mapping[Identity, str],
    ) -> ClusterWatch:
        """Begin to watch kinds."""
        client = self._sources.cluster.client
        watch = ClusterWatch(Connections(client, tell, known, self.silence_seconds))
        watch.follow(kinds)
        return watch

    def read(self, ref: ObjectRef) -> KubeObject | None:
        """One live object; None when there is none."""
        cluster, key = self._sources.cluster, (ref.api_version, ref.kind)
        entry = cluster.kinds.get(key) or builtin_kind(*key)
        assert entry is not None  # noqa: S101  (what is watched is served)
        return read_object(cluster.client, ref, entry)
