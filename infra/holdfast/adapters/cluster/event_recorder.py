"""Kubernetes Events: what happened to an object; repetitions become a series, floods are cut.

Source: Kubernetes API reference, Event and EventSeries (`events.k8s.io/v1`); client-go,
tools/events and tools/record: EventCorrelator. Events of an object without a namespace are in
`default`.
"""

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from holdfast.adapters.clock import utc_now
from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import JSON, ApiClient, path_of
from holdfast.kube.objects import KubeObject

EVENTS: Final = "events.k8s.io/v1"
NAMESPACE_OF_THE_CLUSTER: Final = "default"
SERIES_SECONDS: Final = 360.0
"""What is repeated within so long belongs to the series."""

SERIES_WRITE_SECONDS: Final = 60.0
"""A series is written no more often; what comes in between is counted."""

BURST: Final = 25
REFILL_SECONDS: Final = 60.0
"""About one object so many Events are written at once, and then one in so long."""

_FIRST_REPETITION: Final = 2
_MOST_REMEMBERED: Final = 4096
_MOST_NOTE_CHARACTERS: Final = 1024
_MERGE_PATCH: Final = "application/merge-patch+json"


@dataclass
class _Series:
    """An Event that was written, and how often it was repeated."""

    path: str
    seen_at: float
    written_at: float
    count: int = 1


@dataclass
class _Budget:
    """How many Events about one object may still be written."""

    left: float
    at: float


@dataclass
class EventRecorder:
    """Writes Events in the name of one program; safe to use from several threads.

    Attributes:
        controller: Which program this is, such as `holdfast.dev/operator`.
        instance: Which one of its processes.
        has_series: Whether a repetition is counted in the Event that was written, which takes the
            right to patch Events; else it is an Event of its own.
    """

    client: ApiClient
    controller: str
    instance: str
    has_series: bool = True
    _series: OrderedDict[tuple[str, ...], _Series] = field(default_factory=OrderedDict)
    _budgets: OrderedDict[str, _Budget] = field(default_factory=OrderedDict)
    _recording: threading.Lock = field(default_factory=threading.Lock)

    def record(self, regarding: KubeObject, reason: str, note: str, *, is_warning: bool) -> bool:
        """Record what happened to one object.

        Args:
            regarding: The object as it was read: its uid is needed.
            reason: One word in CamelCase, for programs.
            note: For people; never a secret.
            is_warning: A person should act on it.

        Returns:
            Whether a request was sent: a repetition may only be counted, a flood is cut.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        uid = str(regarding["metadata"].get("uid") or regarding["metadata"]["name"])
        key, now = (uid, reason, note, str(is_warning)), time.monotonic()
        with self._recording:
            series = self._series.get(key) if self.has_series else None
            if series is not None and now - series.seen_at < SERIES_SECONDS:
                series.count, series.seen_at = series.count + 1, now
                has_paused = now - series.written_at >= SERIES_WRITE_SECONDS
                if series.count > _FIRST_REPETITION and not has_paused:
                    return False
                series.written_at = now
            else:
                series = None
                if not self._may_write(uid, now):
                    return False
        if series is not None and self._continue(series):
            return True
        path = self._create(regarding, reason, note, is_warning=is_warning)
        with self._recording:
            _remember(self._series, key, _Series(path, now, now))
        return True

    def _may_write(self, uid: str, now: float) -> bool:
        budget = self._budgets.get(uid) or _Budget(BURST, now)
        left = min(BURST, budget.left + (now - budget.at) / REFILL_SECONDS)
        is_allowed = left >= 1
        _remember(self._budgets, uid, _Budget(left - is_allowed, now))
        return is_allowed

    def _continue(self, series: _Series) -> bool:
        """Write how long a series is by now; False where it is gone, or may not be written."""
        body = {"series": {"count": series.count, "lastObservedTime": utc_now("microseconds")}}
        try:
            self.client.write(
                "PATCH", series.path, msgspec.json.encode(body), content_type=_MERGE_PATCH
            )
        except ApiError as error:
            if error.is_absent or error.is_forbidden:
                return False
            raise
        return True

    def _create(self, regarding: KubeObject, reason: str, note: str, *, is_warning: bool) -> str:
        metadata = regarding["metadata"]
        namespace = metadata.get("namespace") or NAMESPACE_OF_THE_CLUSTER
        name = f"{metadata['name']}.{secrets.token_hex(8)}"
        event: dict[str, Any] = {
            "apiVersion": EVENTS,
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": utc_now("microseconds"),
            "reportingController": self.controller,
            "reportingInstance": self.instance,
            "action": reason,
            "reason": reason,
            "note": note[:_MOST_NOTE_CHARACTERS],
            "type": "Warning" if is_warning else "Normal",
            "regarding": {
                "apiVersion": regarding["apiVersion"],
                "kind": regarding["kind"],
                **{key: metadata[key] for key in ("name", "namespace", "uid") if key in metadata},
            },
        }
        path = path_of(EVENTS, "events", namespace)
        self.client.write("POST", path, msgspec.json.encode(event), content_type=JSON)
        return path_of(EVENTS, "events", namespace, name)


def _remember(kept: OrderedDict[Any, Any], key: object, value: object) -> None:
    """Keep the newest of them: memory does not grow with what came and went."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _MOST_REMEMBERED:
        kept.popitem(last=False)
