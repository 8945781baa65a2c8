"""Who may have caused a finding: the owners in managed fields, and the user from the audit log.

A client chooses its manager's name, so that is a hint; only the audit log proves a person. A
removed field has no owner: then the log's writes to the object since the last deployment are named.
Sessions in a pod (exec, attach, debug containers) show in no declared field and end with the pod:
the audit log is their only evidence, and they are remarks, not drift.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from holdfast.drift.finding import (
    Actor,
    DriftClass,
    DriftReport,
    EvidenceSource,
    ExpectedBy,
    Finding,
    Severity,
    with_findings,
)
from holdfast.kube.audit import AuditEvent, plurals_of
from holdfast.kube.managed_fields import ManagerEntry
from holdfast.kube.objects import ObjectRef, mapping_at, reference_of
from holdfast.kube.scalars import format_utc
from holdfast.manifest.types.marks import agent_of

ADMISSION: Final = "(admission)"
"""Stands for the in-cluster mutation that is assumed to have set a field without an owner."""

CLOCK_SLACK: Final = timedelta(seconds=2)
"""Managed fields have whole seconds, and the log notes the arrival, not the write."""

LARGEST_CANDIDATES: Final = 3
"""With more writers to the object since its deployment, no list of them says anything."""

_DEPLOYER: Final = re.compile(r"^(holdfast|pulumi-kubernetes(-[0-9a-f]{8})?|pulumi-resource-.*)$")
_FIELD_WRITES: Final = frozenset({"create", "patch", "update"})
_OLDEST: Final = datetime.min.replace(tzinfo=UTC)


def is_deployer(manager: str, extra: str = "") -> bool:
    """Whether a manager's name is one under which declarations are deployed."""
    return bool(_DEPLOYER.match(manager)) or (bool(extra) and manager == extra)


@dataclass(frozen=True)
class Evidence:
    """What is known about the writes to one object.

    Attributes:
        events: Writes to this object, oldest first; None where there is no audit log.
        deployer: Field manager of the declaration itself, when it names one.
    """

    events: tuple[AuditEvent, ...] | None = None
    deployer: str = ""

    def user_of(self, entry: ManagerEntry) -> str:
        """User of the write that an entry records; empty where the log does not say."""
        event = self._event_of(entry)
        return event.user if event is not None else ""

    def recent_users(self) -> tuple[str, ...]:
        """Users who wrote to the object since it was last deployed; none without an audit log."""
        return tuple(actor.user for actor in self._recent_writers())

    def actors_of_field(
        self, owners: Sequence[ManagerEntry], *, leaves_owner: bool, is_wiped: bool
    ) -> tuple[Actor, ...]:
        """Who may have changed, added or removed one field.

        Args:
            owners: Entries that own the field, latest first.
            leaves_owner: Who does this becomes an owner; false for removals and for the order of
                a keyed list.
            is_wiped: The object's record of owners was reset.
        """
        if leaves_owner and owners:
            strangers = [entry for entry in owners if not is_deployer(entry.manager, self.deployer)]
            return tuple(self._of_entry(entry) for entry in strangers or owners)
        candidates = self._recent_writers()
        if candidates or not leaves_owner or is_wiped:
            return candidates
        return (Actor(manager=ADMISSION),)

    def actors_of_object(
        self, drift_class: DriftClass, entries: Sequence[ManagerEntry]
    ) -> tuple[Actor, ...]:
        """Who may have deleted, replaced or made a whole object."""
        if drift_class is DriftClass.UNMANAGED:
            first = sorted(entries, key=lambda entry: entry.time)[:1]
            made = tuple(self._of_entry(entry) for entry in first)
            return made or self._latest({"create", "patch", "update"})
        return self._latest({"delete", "deletecollection"})

    def _of_entry(self, entry: ManagerEntry) -> Actor:
        actor = Actor(entry.manager, entry.operation, entry.subresource, entry.time)
        event = self._event_of(entry)
        if event is None:
            return actor
        time = entry.time or format_utc(event.time)
        return replace(
            _of_event(event),
            manager=actor.manager,
            operation=actor.operation,
            subresource=actor.subresource,
            time=time,
        )

    def _event_of(self, entry: ManagerEntry) -> AuditEvent | None:
        """The write that an entry records: same manager, and the nearest in time."""
        writes = [
            event
            for event in self.events or ()
            if event.manager == entry.manager
            and event.subresource == entry.subresource
            and event.verb in _FIELD_WRITES
        ]
        if not entry.time:  # some entries for the scale subresource carry none
            return writes[-1] if writes else None
        time = _time_of(entry.time)
        near = [event for event in writes if abs(event.time - time) <= CLOCK_SLACK]
        return min(reversed(near), key=lambda event: abs(event.time - time), default=None)

    def _recent_writers(self) -> tuple[Actor, ...]:
        """Users who wrote to the object since it was last deployed, latest first."""
        writes = [event for event in self.events or () if event.subresource != "status"]
        deployed = max(
            (event.time for event in writes if is_deployer(event.manager, self.deployer)),
            default=_OLDEST,
        )
        since = [
            event
            for event in writes
            if event.time >= deployed
            and not is_deployer(event.manager, self.deployer)
            and event.verb in _FIELD_WRITES
        ]
        people = [event for event in since if not event.user.startswith("system:kube-")]
        latest = {event.user: event for event in people or since}
        named = sorted(latest.values(), key=lambda event: event.time, reverse=True)
        return tuple(_of_event(event) for event in named[:LARGEST_CANDIDATES])

    def _latest(self, verbs: set[str]) -> tuple[Actor, ...]:
        found = [event for event in self.events or () if event.verb in verbs]
        return (_of_event(found[-1]),) if found else ()


def _of_event(event: AuditEvent) -> Actor:
    """The actor of one write, as the audit log records it."""
    is_write = event.verb in _FIELD_WRITES and not event.is_session
    operation = "Update" if is_write else ""
    return Actor(
        manager=event.manager,
        operation=operation,
        subresource=event.subresource,
        time=format_utc(event.time),
        user=event.user,
        source=EvidenceSource.AUDIT,
        verb=event.verb,
        user_agent=event.user_agent,
        source_address=event.source_address,
    )


def _time_of(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _OLDEST


@dataclass
class AuditTrail:
    """The writes of an audit log, by object."""

    _events: dict[tuple[str, str, str, str], list[AuditEvent]] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[AuditEvent]) -> "AuditTrail":
        """Sort events by the object they are about."""
        trail = cls()
        trail.add(events)
        return trail

    def add(self, events: Iterable[AuditEvent]) -> None:
        """Take more events."""
        for event in events:
            key = (event.group, event.resource, event.namespace, event.name)
            self._events.setdefault(key, []).append(event)

    def of_object(self, ref: ObjectRef) -> tuple[AuditEvent, ...]:
        """Writes to one object, deletions of whole collections around it too; oldest first."""
        found: list[AuditEvent] = []
        # A request for a Namespace counts as one inside it.
        namespaces = {ref.namespace, ref.name} if ref.kind == "Namespace" else {ref.namespace}
        for plural in plurals_of(ref.api_version, ref.kind):
            for namespace in namespaces:
                for name in (ref.name, ""):
                    found += self._events.get((ref.group, plural, namespace, name), ())
        writes = (event for event in found if not event.is_session)
        return tuple(sorted(writes, key=lambda event: event.time))

    def sessions_in(self, ref: ObjectRef) -> tuple[Actor, ...]:
        """Who entered a pod, oldest first; each session once."""
        events = self._events.get((ref.group, "pods", ref.namespace, ref.name), ())
        inside: dict[str, AuditEvent] = {}
        for number, event in enumerate(event for event in events if event.enters_pod):
            inside.setdefault(event.identifier or str(number), event)
        return tuple(map(_of_event, sorted(inside.values(), key=lambda each: each.time)))


_EPHEMERAL: Final = ("spec", "ephemeralContainers")
_PATHS: Final = {"ephemeralcontainers": _EPHEMERAL}


def session_findings(
    live: Iterable[Mapping[str, Any]], trail: AuditTrail, namespaces: set[str]
) -> Iterator[Finding]:
    """One remark a pod and way into it, with everybody who took it, the latest first.

    Args:
        live: Objects of the cluster; only pods are used.
        trail: The audit log.
        namespaces: Where the declared objects live.
    """
    for one in live:
        if one.get("kind") != "Pod":
            continue
        ref = reference_of(one)
        if ref.namespace not in namespaces:
            continue
        made = str(mapping_at(one, "metadata").get("creationTimestamp") or "")
        ways: dict[str, list[Actor]] = {}
        for actor in trail.sessions_in(ref):
            if actor.time >= made:
                ways.setdefault(actor.subresource, []).insert(0, actor)
        for way, actors in sorted(ways.items()):
            yield Finding(
                ref=ref,
                agent=agent_of(one),
                drift_class=DriftClass.ADDED,
                path=_PATHS.get(way, (way,)),
                severity=Severity.INFO,
                actors=tuple(actors),
                expected_by=ExpectedBy.NOBODY,
            )


def with_sessions(report: DriftReport, sessions: Iterable[Finding]) -> DriftReport:
    """A report with who entered pods; a container that is drift of its pod is reported once."""
    known = {(each.ref, each.path[: len(_EPHEMERAL)]) for each in report.findings}
    return with_findings(report, (each for each in sessions if (each.ref, each.path) not in known))
