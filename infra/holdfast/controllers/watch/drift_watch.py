"""`holdfast drift watch`: sources, listeners and signals of the loop. Wiring."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.audit_log import AuditTail
from holdfast.adapters.cluster.changes import Change, WatchedKind
from holdfast.adapters.cluster.cluster_watch import (
    ClusterWatch,
    declared_kinds,
    watched_beside,
)
from holdfast.adapters.cluster.reflector import WatchConfig
from holdfast.adapters.cluster.sought_kinds import kinds_beside
from holdfast.adapters.cluster.writing import read_object
from holdfast.adapters.engine.backend.stack_lock import ActivityReader
from holdfast.adapters.http.webhook import JSON, Webhook
from holdfast.controllers.runtime.http import EndpointServer
from holdfast.controllers.runtime.log import Output
from holdfast.controllers.runtime.process import host_and_port, stop_on_signals
from holdfast.controllers.watch.inputs import Activity, WatchedDeclaration
from holdfast.controllers.watch.listeners import EventPrinter, MetricsFileListener, WebhookListener
from holdfast.controllers.watch.loop import WatchLoop
from holdfast.controllers.watch.metrics import DriftMetrics, MetricsFile
from holdfast.controllers.watch.notifications import (
    URL_VARIABLES,
    NotificationListener,
    chat_addresses,
)
from holdfast.controllers.watch.request import WatchRequest
from holdfast.drift.cause.attribution import AuditTrail, session_findings
from holdfast.drift.finding import Finding, Objects
from holdfast.drift.record.watch_report import Listener
from holdfast.drift.scan import DriftJudge
from holdfast.errors import ExitCode, InputError
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.kube.structure import builtin_kind
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.scan.live import anywhere_else, places_beside
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner


@dataclass
class FollowedLog:
    """A log that a watch follows; one thread reads it."""

    tail: AuditTail
    trail: AuditTrail = field(default_factory=AuditTrail)
    _entered: set[Identity] = field(default_factory=set)

    @classmethod
    def of(cls, file: Path) -> "FollowedLog":
        """Follow a file.

        Raises:
            InputError: it is a folder.
        """
        if not file.is_file():
            raise InputError(
                f"--audit-log {file}: a watch follows one file",
                remedy="name the file that the API server writes to",
            )
        return cls(AuditTail(file))

    def read(self) -> AuditTrail:
        """All entries so far."""
        new = list(self.tail.read_new())
        self.trail.add(new)
        self._entered |= {
            Identity("", "Pod", one.namespace, one.name) for one in new if one.enters_pod
        }
        return self.trail

    def take_entered(self) -> frozenset[Identity]:
        """Pods that were entered since the last call."""
        self.read()
        entered, self._entered = self._entered, set()
        return frozenset(entered)

    def sessions_of(
        self, namespaces: set[str]
    ) -> tuple[Callable[[Objects], Iterable[Finding]], Callable[[], frozenset[Identity]]]:
        """What a watch asks about sessions in pods of some namespaces: of which pods, and where."""

        def found(objects: Objects) -> Iterable[Finding]:
            return session_findings(objects.values(), self.trail, namespaces - {""})

        return found, self.take_entered


WEBHOOK_TOKEN = "HOLDFAST_WEBHOOK_TOKEN"  # noqa: S105  (the name of a variable)


def watch(
    request: ScanRequest,
    watching: WatchRequest,
    output: str,
    lines: Output,
    progress: Progress,
) -> int:
    """Watch until a signal ends it; returns the exit code of a command that was cancelled.

    Args:
        request: What is compared with what.
        watching: How to watch.
        output: `text` or `json`.
        lines: Takes what is written.
        progress: Takes what operations say.

    Raises:
        HoldfastError: the declaration or the cluster cannot be read at the start.
    """
    if request.live:
        raise InputError("a file cannot be watched", remedy="leave --live out to use a cluster")
    if output not in {"text", "json"}:
        raise InputError(f"a watch has no output {output!r}", remedy="choose text or json")
    metrics = DriftMetrics(request.stack)
    # Metrics first: who reads a printed line may ask for them at once.
    listeners: list[Listener] = [
        metrics,
        EventPrinter(request.stack, lines, as_json=output == "json", is_verbose=watching.verbose),
    ]
    listeners += _outlets(request.stack, watching, metrics, lines)
    if watching.metrics:
        listeners += _metrics_outlet(watching.metrics, metrics, lines)
    sources = WatchSources(request, watching.silence_seconds, progress)
    loop = WatchLoop(sources, listeners, watching.resync_seconds)
    stop_on_signals(loop.stop)
    try:
        loop.run()
    finally:
        for listener in listeners:
            listener.ended()
    lines.note("stopped")
    return ExitCode.CANCELLED


def _outlets(
    stack: str, watching: WatchRequest, metrics: DriftMetrics, lines: Output
) -> Iterator[Listener]:
    """Where events go, and messages for people."""

    def note(outcome: str, problem: str) -> None:
        metrics.count_delivery(outcome)
        if problem:
            lines.note(f"webhook: event lost: {problem}")

    if watching.webhook:
        webhook = Webhook(watching.webhook, note, os.environ.get(WEBHOOK_TOKEN, ""))
        yield WebhookListener(stack, webhook)
    for chat, url in chat_addresses(os.environ).items():
        name = URL_VARIABLES[chat]
        channel = Webhook(url, note, source=name, content_type=JSON)
        yield NotificationListener(stack, chat, channel)
        lines.note(f"messages: to {chat}, by {name}")


def _metrics_outlet(place: str, metrics: DriftMetrics, lines: Output) -> list[Listener]:
    host, separator, port = place.rpartition(":")
    if not (separator and port.isdecimal()):
        return [MetricsFileListener(MetricsFile(metrics, Path(place)))]
    address = host_and_port("--metrics", place, ":9464")
    server = EndpointServer("--metrics", address, metrics.registry, {})
    server.start()
    lines.note(f"metrics: http://{host or 'localhost'}:{server.port}/metrics")
    return []


@dataclass
class WatchSources:
    """Where the loop gets everything from: files, the stack's record, the cluster."""

    request: ScanRequest
    silence_seconds: float
    progress: Progress = SILENT

    def load(self) -> WatchedDeclaration:
        """Read the declaration, and what the cluster serves of it."""
        sources = self._sources = Scanner(self.request, self.progress)
        cluster = sources.cluster
        with contextlib.suppress(ApiError):  # forbidden, say: what matters is an answer
            cluster.client.get("/version")
        objects = cluster.placed(sources.desired.objects)
        log = self._log
        around = sources.surroundings(objects, cluster.types(), log)
        places, selector = places_beside(objects, sources.desired.stack)
        refs = [reference_of(one) for one in objects]
        refs += anywhere_else(refs, cluster.kinds, places)
        sought = kinds_beside(cluster.client, cluster.kinds.keys()) if places else ()
        beside = watched_beside(sought, places, selector)
        kinds = (*declared_kinds(refs, cluster.kinds), *beside)
        # Log and rules are read now: the first finding should not have to wait for them.
        if around.trail is not None:
            around.trail.read()
        if around.judge is not None and objects:
            around.judge(objects[0])
        judge = DriftJudge(objects, around, sources.desired.stack)
        return WatchedDeclaration(
            judge,
            kinds,
            frozenset((kind.refs[0].group, kind.kind) for kind in beside),
            sources.desired.in_flight,
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
            self.progress.note(
                f"note: the state of stack {self.request.stack} is in no folder of this machine: "
                "an update is reported as drift while it runs; restart the watch after one"
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
        emit: Callable[[Change], None],
        known: Mapping[Identity, str],
    ) -> ClusterWatch:
        """Begin to watch kinds."""
        client = self._sources.cluster.client
        watch = ClusterWatch(WatchConfig(client, emit, known, self.silence_seconds))
        watch.follow(kinds)
        return watch

    def read(self, ref: ObjectRef) -> KubeObject | None:
        """One live object; None when there is none."""
        cluster, key = self._sources.cluster, (ref.api_version, ref.kind)
        entry = cluster.kinds.get(key) or builtin_kind(*key)
        assert entry is not None  # noqa: S101  (what is watched is served)
        return read_object(cluster.client, ref, entry)
