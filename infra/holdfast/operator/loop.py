"""The operator's loop: hear, wait a moment, look at an agent, act, tell. Keyed by agent.

One thread hears and decides when; looks at several agents run beside one another, each on its own
agent alone. Nothing here renders, compares or judges: it calls those that do.
"""

import queue
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from holdfast.cluster.changes import Blind, Change, WatchedKind
from holdfast.cluster.client import ApiClient
from holdfast.cluster.cluster_watch import ClusterWatch
from holdfast.cluster.kind_reader import Question
from holdfast.cluster.kinds import custom_types, served_kinds
from holdfast.cluster.place_watch import Connections
from holdfast.drift.unmanaged import stack_selector
from holdfast.drift.watch_report import Status, WatchState
from holdfast.errors import ClusterError, HoldfastError
from holdfast.kube.objects import ObjectRef
from holdfast.kube.structure import KindEntry, TypeTable
from holdfast.manifest.agent import AGENT_KIND, API_VERSION
from holdfast.manifest.kinds import KINDS
from holdfast.manifest.resource_fleet import Place
from holdfast.operator.agent_view import Identity
from holdfast.operator.board import OWN_GROUP, Board, agent_place
from holdfast.operator.declaration import (
    Declaration,
    Renderer,
    VerdictsFor,
    fingerprint_of,
    read_settings,
)
from holdfast.operator.journal import Journal
from holdfast.operator.looking import Looking
from holdfast.operator.metrics import OperatorMetrics
from holdfast.operator.teams import tell_teams
from holdfast.reconcile.queue import KeyedQueue
from holdfast.render.agent_resources import settings_name

POLL_SECONDS: Final = 0.5
SETTLING_SECONDS: Final = 0.3
"""Resources come in bursts: they are rendered when they have been quiet for so long."""

TELLING_SECONDS: Final = 1.0
WORKERS: Final = 4
MOST_AT_ONCE: Final = 64
QUIET_SECONDS: Final = 0.1
"""A change waits for the next one: what one hand does at once is one look."""

LEAST_SECONDS: Final = 0.5
"""Between two looks at one agent."""

_ALWAYS: Final = (
    *((API_VERSION, kind) for kind in KINDS),
    ("v1", "ConfigMap"),
    ("v1", "Pod"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
)
KindKey = tuple[str, str]


@dataclass(frozen=True)
class LoopSettings:
    """How to go round.

    Attributes:
        stack: Whose agents.
        interval_seconds: Everything is read and looked at anew that often, as a safety net.
        instance: Who this is, in Events.
    """

    stack: str
    interval_seconds: float
    instance: str


class AgentLoop:
    """Holds agents to what their resources declare until it is told to stop."""

    def __init__(
        self,
        settings: LoopSettings,
        client: ApiClient,
        verdicts_for: VerdictsFor,
        metrics: OperatorMetrics,
        journal: Journal,
    ) -> None:
        self._settings = settings
        self._client = client
        self._metrics = metrics
        self._journal = journal
        self._inbox: queue.SimpleQueue[Change | None] = queue.SimpleQueue()
        self._is_stopping = False
        self._board = Board()
        self._kinds: dict[KindKey, KindEntry] = {}
        self._followed: set[KindKey] = set()
        self._types: dict[str, list[TypeTable]] = {}
        self._queue: KeyedQueue[Place] = KeyedQueue(LEAST_SECONDS)
        self._prints: dict[Identity, object] = {}
        self._dirty_since: float | None = None
        self._declaration: Declaration | None = None
        self._problem = ""
        self._turned_at = time.monotonic()
        self._next_telling = 0.0
        self._renderer = Renderer(
            settings.stack,
            verdicts_for,
            lambda: self._board.of_kind("autoscaling", "HorizontalPodAutoscaler"),
            lambda: [table for tables in self._types.values() for table in tables],
        )
        self._looking = Looking(client, self._kinds, self._board, settings, metrics, journal)

    def stop(self) -> None:
        """End the loop in order; from any thread, and from a signal handler."""
        self._is_stopping = True
        self._inbox.put(None)

    @property
    def dead(self) -> str:
        """Why the loop counts as dead; empty while it goes round."""
        seconds = time.monotonic() - self._turned_at
        return f"the loop has stood for {seconds:.0f} s" if seconds > 60.0 else ""  # noqa: PLR2004  (a minute)

    @property
    def unready(self) -> str:
        """Why nothing can be said of the agents yet; empty when everything was read."""
        if self._problem:
            return self._problem
        if self._declaration is None:
            return "not everything has been read yet"
        return "; ".join(f"{kind}: {why}" for kind, why in sorted(self._board.blind.items()))

    def run(self) -> None:
        """Go round until stopped.

        Raises:
            ClusterError: the cluster does not serve the kinds, or does not answer.
        """
        self._kinds.update(served_kinds(self._client, _ALWAYS))
        if (API_VERSION, AGENT_KIND) not in self._kinds:
            raise ClusterError(
                f"the cluster does not serve {API_VERSION} {AGENT_KIND}",
                remedy="run 'holdfast operator install'",
            )
        shared = Connections(self._client, self._inbox.put, self._board.versions)
        self._watch = ClusterWatch(shared)
        next_listing = time.monotonic() + self._settings.interval_seconds
        try:
            self._follow(_ALWAYS)
            with ThreadPoolExecutor(WORKERS, "look") as self._workers:
                while not self._is_stopping:
                    self._step()
                    if time.monotonic() >= next_listing:
                        next_listing = time.monotonic() + self._settings.interval_seconds
                        self._watch.list_again()
                        self._touch(self._places())
        finally:
            self._watch.stop()

    def _step(self) -> None:
        self._hear()
        self._declare_when_settled()
        if self._declaration is not None:
            self._look_at_all_due(self._declaration)
        self._turned_at = time.monotonic()
        if self._turned_at >= self._next_telling:
            self._next_telling = self._turned_at + TELLING_SECONDS
            self._tell()

    def _hear(self) -> None:
        due = self._queue.seconds_until_due(time.monotonic())
        wait = POLL_SECONDS if due is None else min(POLL_SECONDS, due)
        try:
            heard = self._inbox.get(timeout=max(wait, 0.001))
            for _ in range(MOST_AT_ONCE * 16):
                if heard is not None:
                    self._take(heard)
                heard = self._inbox.get_nowait()
        except queue.Empty:
            pass

    def _take(self, change: Change) -> None:
        if isinstance(change, Blind):
            was_blind = change.place.kind.kind in self._board.blind
            self._journal.say(
                "watch", level="warning", kind=str(change.place), reason=change.reason
            )
            self._metrics.drift.restarted(change.place.kind.kind, change.reason)
            if not was_blind:
                self._touch(self._places())
        were_listed = len(self._board.listed)
        news = list(self._board.take(change))
        if len(self._board.listed) > were_listed:
            self._touch(self._places())  # some of them may have waited for this kind
        for identity, live in news:
            group, kind, namespace, name = identity
            is_gone = identity not in self._board.objects
            is_settings = kind == "ConfigMap" and name == settings_name(self._settings.stack)
            if group == OWN_GROUP or is_settings:
                fingerprint = None if is_gone or live is None else fingerprint_of(live)
                if fingerprint == self._prints.get(identity):
                    continue
                self._prints[identity] = fingerprint
                self._dirty_since = time.monotonic()
                if kind == AGENT_KIND:
                    self._looking.forgive((namespace, name))
                    self._touch([(namespace, name)], is_urgent=True)
            elif live is not None and (place := agent_place(identity, live)):
                self._touch([place])

    def _touch(self, places: Iterable[Place], *, is_urgent: bool = False) -> None:
        """Ask for a look; at a resource that somebody changed, also where the last one failed."""
        now = time.monotonic()
        for place in places:
            self._queue.add(place, now + QUIET_SECONDS, is_urgent=is_urgent)

    def _places(self) -> list[Place]:
        return [each[2:] for each in self._board.objects if each[:2] == (OWN_GROUP, AGENT_KIND)]

    def _declare_when_settled(self) -> None:
        """Render anew what the resources declare, when they have stopped changing."""
        if self._dirty_since is None or time.monotonic() < self._dirty_since + SETTLING_SECONDS:
            return
        if not {kind for _, kind in _ALWAYS} <= self._board.listed:
            return
        self._dirty_since = None
        name = settings_name(self._settings.stack)
        config_maps = self._board.of_kind("", "ConfigMap")
        try:
            settings = read_settings(
                next((one for one in config_maps if one["metadata"]["name"] == name), None)
            )
            declaration = self._renderer.declaration(settings, self._board.resources())
        except HoldfastError as error:
            # What was declared before goes on until somebody mends it.
            self._problem = str(error)
            self._journal.say("declare", level="error", problem=self._problem)
            return
        self._problem = ""
        before, self._declaration = self._declaration, declaration
        declared = {
            (str(item.manifest["apiVersion"]), str(item.manifest["kind"]))
            for items in self._declaration.rendered.values()
            for item in items
        }
        self._follow(declared)
        self._touch(_changed(before, self._declaration, self._places()))

    def _follow(self, kinds: Iterable[KindKey]) -> None:
        """Begin to watch kinds that are not watched yet."""
        new = set(kinds) - self._followed
        if not new:
            return
        self._kinds.update(served_kinds(self._client, sorted(new)))
        selector = stack_selector(self._settings.stack)
        self._followed |= new
        for version in {version for version, _ in new if version not in self._types}:
            custom = [entry for (v, _), entry in self._kinds.items() if v == version]
            is_builtin = all(entry.type_name for entry in custom)
            self._types[version] = [] if is_builtin else custom_types(self._client, [version])
        self._watch.follow(
            WatchedKind(
                self._kinds.get(key),
                (ObjectRef("", key[1], "", key[0]),),
                Question(selector=selector, keeps_status=True),
            )
            for key in sorted(new)
        )

    def _look_at_all_due(self, declaration: Declaration) -> None:
        now = time.monotonic()
        batch: list[Place] = []
        while len(batch) < MOST_AT_ONCE and (place := self._queue.take(now)) is not None:
            batch.append(place)
        outcomes = self._workers.map(lambda each: self._look_at(each, declaration), batch)
        for place, is_done in zip(batch, outcomes, strict=True):
            self._queue.done(place, time.monotonic(), has_succeeded=is_done)

    def _look_at(self, place: Place, declaration: Declaration) -> bool:
        try:
            return self._looking.look_at(place, declaration)
        except HoldfastError as error:
            self._journal.say(
                "act", level="error", namespace=place[0], agent=place[1], problem=str(error)
            )
            return False

    def _tell(self) -> None:
        agents = list(self._board.of_kind(OWN_GROUP, AGENT_KIND))
        phases = (str((one.get("status") or {}).get("phase") or "Pending") for one in agents)
        self._metrics.went_round(phases, len(self._queue), self._looking.fights)
        found = self._looking.open_findings
        count = sum(finding.counts for finding, _ in found)
        status = Status.DRIFT if count else Status.IN_SYNC
        status = Status.UNKNOWN if self.unready else status
        objects = 0
        if self._declaration is not None:
            objects = len(self._declaration.judge.declared)
            tell_teams(self._board, self._looking.actor)
        self._metrics.drift.stated(WatchState(status, (), count, objects), found)


def _changed(before: Declaration | None, after: Declaration, places: list[Place]) -> list[Place]:
    """The agents about which something else is declared than before."""
    if before is None or before.settings != after.settings:
        return places
    return [
        place
        for place in places
        if before.rendered.get(place) != after.rendered.get(place)
        or before.unresolved.get(place) != after.unresolved.get(place)
        or before.resources.invalid.get(place) != after.resources.invalid.get(place)
    ]
