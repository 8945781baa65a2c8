"""One round of a watch: what is wanted, what can be seen, and judging the one by the other.

A round lasts as long as its declaration: when that changes everything is read and judged again. The
open findings outlive it.
"""

import time
from collections.abc import Iterable
from typing import Final

from holdfast.adapters.cluster.api_error import fault_text
from holdfast.adapters.cluster.changes import Moved, Snapshot, WatchedKind
from holdfast.controllers.runtime.object_store import NOT_READ, InformerStore
from holdfast.controllers.watch.dispatcher import ListenerDispatcher, timestamp_at
from holdfast.controllers.watch.inputs import WatchedDeclaration, WatchInputs
from holdfast.controllers.watch.pending import PendingChanges, Task, Version
from holdfast.drift.finding import Finding, NotChecked
from holdfast.drift.record.ledger import FindingEvent, Ledger
from holdfast.kube.objects import Identity, KubeObject, ObjectRef

_NOTHING: Final[tuple[FindingEvent, ...]] = ()


class WatchSession:
    """Judges what is heard.

    Attributes:
        store: What is there, in which version, and what can be seen.
        queue: What waits to be judged.
    """

    def __init__(
        self,
        desired: WatchedDeclaration,
        inputs: WatchInputs,
        ledger: Ledger,
        dispatcher: ListenerDispatcher,
    ) -> None:
        self.store = InformerStore(desired.kinds, keeps_objects=False)
        self.queue = PendingChanges()
        self._desired = desired
        self._inputs = inputs
        self._ledger = ledger
        self._dispatcher = dispatcher
        self._deferred_lists: list[Snapshot] = []
        self._deferred_changes: list[Moved] = []
        self._unjudged: dict[Identity, NotChecked] = {}
        self._is_swept = False

    @property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """What is not known, and why."""
        deferred = {NOT_READ} if self._deferred_lists else set()
        in_flight = {*self._desired.in_flight.values(), *self._desired.not_checked}
        return tuple(
            sorted({*self.store.not_checked, *self._unjudged.values(), *deferred, *in_flight})
        )

    @property
    def objects(self) -> int:
        """How many objects are declared."""
        return len(self._desired.judge.declared)

    def lacked(self, kind: WatchedKind) -> bool:
        """Whether a kind is served now that was not when the declaration was read."""
        return kind.entry is not None and any(
            each.key == kind.key and each.entry is None for each in self._desired.kinds
        )

    def defer(self, snapshot: Snapshot) -> None:
        """Keep a place that was read whole until it may be judged."""
        self._deferred_lists.append(snapshot)

    def note_moved(self, moved: Moved) -> None:
        """Take one change of one object; after the place that it was in was judged, if it waits."""
        if any(snapshot.place == moved.place for snapshot in self._deferred_lists):
            self._deferred_changes.append(moved)
        elif self.store.take(moved):
            self.queue.add(moved.identity, Version(moved.live, moved.seconds))

    def note_sessions(self) -> None:
        """Judge pods again that were entered: that changes no field, so nothing moved.

        A pod that is not known yet is judged when it is.
        """
        entered = self._desired.entered()
        for identity in entered & self.store.versions.keys() if entered else ():
            self.queue.add_unread(identity, time.monotonic())

    def judge_all_due(self) -> None:
        """Judge places that were read whole, then objects whose time has come."""
        lists, self._deferred_lists = self._deferred_lists, []
        for snapshot in lists:
            for task in self.queue.take_due(time.monotonic(), is_forced=True):
                self._work_on(task)  # what came before the place was read
            self._judge_place(snapshot)
        changes, self._deferred_changes = self._deferred_changes, []
        for moved in changes:
            self.note_moved(moved)
        for task in self.queue.take_due(time.monotonic()):
            self._work_on(task)
        self._close_orphaned_findings()

    def _judge_place(self, snapshot: Snapshot) -> None:
        listing, place = snapshot.listing, snapshot.place
        gone = {identity for identity, live in self.store.take(snapshot) if live is None}
        wanted = {ref.identity for ref in place.refs if ref.name}
        missing = wanted - listing.unchanged - listing.unread.keys()
        only = self._as_declared({*listing.objects, *gone, *missing}, place.kind.api_version)
        try:
            found = self._judge(listing.objects, only)
        except Exception:
            # One of them is beyond us: each is judged on its own, so that the others are known.
            for identity in only:
                version = Version(listing.objects.get(identity), snapshot.seconds)
                self.queue.add(identity, version)
            return
        for identity, findings in found.items():
            events = self._ledger.note(identity, findings, timestamp_at(time.monotonic()))
            if events:
                task = Task(identity, snapshot.seconds, changes=1)
                self._dispatcher.evaluated(self._ref_of(identity), task, time.monotonic(), events)
        self._dispatcher.reading(snapshot)

    def _as_declared(self, identities: Iterable[Identity], api_version: str) -> frozenset[Identity]:
        """Without what is declared in another version: it counts where it is read in that one."""
        declared = self._desired.judge.declared
        return frozenset(
            one
            for one in identities
            if one not in declared or declared[one][0].api_version == api_version
        )

    def _work_on(self, task: Task) -> None:
        """Judge one object; whatever goes wrong concerns that object alone."""
        try:
            self._evaluate(task)
        except Exception as error:
            # A defect must not end the watch of all other objects: this one is not checked.
            reason = NotChecked(str(self._ref_of(task.identity)), fault_text(error))
            self.store.unread[task.identity] = reason
            self.queue.done(task, time.monotonic(), has_succeeded=False)
        else:
            self.queue.done(task, time.monotonic(), has_succeeded=True)

    def _evaluate(self, task: Task) -> None:
        taken = time.monotonic()
        identity = task.identity
        latest = task.latest or self._read(identity)
        self.store.unread.pop(identity, None)
        findings = self._findings(identity, latest)
        events = _NOTHING
        if self._ledger.is_as_before(identity, findings):
            events = self._between(task)
        events += self._ledger.note(identity, findings, timestamp_at(latest.seconds))
        self._dispatcher.evaluated(self._ref_of(identity), task, taken, events)

    def _between(self, task: Task) -> tuple[FindingEvent, ...]:
        """What came and went between two judgements: an edit that was undone is reported, too."""
        events = _NOTHING
        for version in task.versions[:-1]:
            findings = self._findings(task.identity, version)
            if not self._ledger.is_as_before(task.identity, findings):
                events += self._ledger.note(task.identity, findings, timestamp_at(version.seconds))
        return events

    def _read(self, identity: Identity) -> Version:
        return Version(self._inputs.read(self._ref_of(identity)), time.monotonic())

    def _findings(self, identity: Identity, version: Version) -> list[Finding]:
        objects = {} if version.live is None else {identity: version.live}
        return self._judge(objects, frozenset({identity}))[identity]

    def _judge(
        self, objects: dict[Identity, KubeObject], only: frozenset[Identity]
    ) -> dict[Identity, list[Finding]]:
        report = self._desired.report(objects, self.store.unread, only)
        found: dict[Identity, list[Finding]] = {identity: [] for identity in only}
        for finding in report.findings:
            found[finding.ref.identity].append(finding)
        known = {*self.store.unread.values(), *self._desired.in_flight.values()}
        for identity in only:
            self._unjudged.pop(identity, None)
        for item in set(report.not_checked) - known:
            # Its scope is the object itself, whichever of them it is.
            culprit = next(one for one in only if str(self._ref_of(one)) == item.scope)
            self._unjudged[culprit] = item
        return found

    def _close_orphaned_findings(self) -> None:
        """Once everything was read: findings about what is neither declared nor there any more."""
        if self._is_swept or self._deferred_lists or self.store.not_checked:
            return
        self._is_swept = True
        left = (
            self._ledger.identities
            - self._desired.judge.declared.keys()
            - self.store.versions.keys()
        )
        for identity in left:
            now = time.monotonic()
            events = self._ledger.note(identity, (), timestamp_at(now))
            self._dispatcher.evaluated(self._ref_of(identity), Task(identity, now), now, events)

    def _ref_of(self, identity: Identity) -> ObjectRef:
        known = self._desired.judge.declared.get(identity)
        if known:
            return known[0]
        group, kind, namespace, name = identity
        watched = (each for each in self._desired.kinds if each.kind == kind)
        versions = (each.api_version for each in watched if each.refs[0].group == group)
        return ObjectRef(namespace, kind, name, next(versions, f"{group}/" if group else ""))
