"""A loop's stack as an AgentStack of its cluster: status, Events, and the rights to write them.

Laws: only the leader writes; a status is written when it is another one, and not otherwise; what
cannot be written stops nothing, is logged once, and tried again.

Source: Kubernetes API conventions, "Typical status properties"; Kubernetes documentation,
"Server-Side Apply", "Using RBAC Authorization": creating an object by server-side apply needs
`create` beside `patch`.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from holdfast.adapters.clock import utc_now
from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.event_recorder import EVENTS, NAMESPACE_OF_THE_CLUSTER, EventRecorder
from holdfast.adapters.cluster.writing import Writer, apply_object, apply_status
from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops.loop_conditions import LoopConditions
from holdfast.controllers.gitops.loop_events import EventRecord
from holdfast.controllers.gitops.roles import LoopListener
from holdfast.controllers.runtime.log import Log
from holdfast.drift.reader_role import Reader
from holdfast.errors import HoldfastError
from holdfast.kube.conditions import with_times
from holdfast.kube.objects import KubeObject, ObjectRef, api_group, mapping_at
from holdfast.kube.rbac import policy_rule, role_and_binding
from holdfast.manifest.publish.resource_interface import AGENT_STACK_KIND
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.operations.stack.agent_stack import (
    ENTRY,
    agent_stack_body,
    agent_stack_ref,
    control_of,
)

FIELD_MANAGER: Final = "holdfast-reconcile"
CONTROLLER: Final = "holdfast.dev/reconcile"
AGAIN_SECONDS: Final = 60.0
_MOST_PENDING_EVENTS: Final = 100


@dataclass(frozen=True)
class HeldStack:
    """What a loop holds, as its resource says.

    Attributes:
        name: Of the stack.
        repository: Without user and password.
        instance: Which loop it is: machine or pod.
    """

    name: str
    repository: str
    branch: str
    path: str
    instance: str

    @property
    def ref(self) -> ObjectRef:
        """Its resource."""
        return agent_stack_ref(self.name)


class StackReport(LoopListener):
    """Listens to a reconciler, after the conditions, and writes what is news to the cluster."""

    def __init__(
        self,
        held: HeldStack,
        conditions: LoopConditions,
        connect: Callable[[], ApiClient],
        log: Log,
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            held: What the loop holds.
            conditions: What is true of it.
            connect: Finds the cluster; may raise HoldfastError.
            log: Told when nothing can be written.
        """
        self._held, self._conditions = held, conditions
        self._connect, self._log = connect, log
        self._client: ApiClient | None = None
        self._live: KubeObject | None = None
        self._events: EventRecorder | None = None
        self._pending_events: deque[EventRecord] = deque(maxlen=_MOST_PENDING_EVENTS)
        self._is_leading = False
        self._retry_at: dict[str, float] = {}
        self._problems: dict[str, str] = {}

    def leads(self, is_leader: bool) -> None:
        """Take whether this loop is the one that acts; from any thread."""
        self._is_leading = is_leader

    def record(self, event: EventRecord) -> None:
        """Take an Event that is written with the next status."""
        self._pending_events.append(event)

    def observed(self, commit: Commit, running: str) -> None:
        """An update may begin and take long: report that it is behind."""
        self._report()

    def reconciled(self, key: str, outcome: str, seconds: float) -> None:
        """A piece of work ended."""
        self._report()

    def end(self) -> None:
        """Report that the loop has ended; to be called while the lease is still held."""
        self._conditions.end()
        if self._live is not None:
            self._report()

    def _report(self) -> None:
        """Write both, so that neither waits for the other."""
        if not self._is_leading:
            return
        self._try("status", self._write_status)
        if self._live is not None:
            self._try("events", self._write_events)

    def _try(self, what: str, write: Callable[[], None]) -> None:
        if time.monotonic() < self._retry_at.get(what, 0.0):
            return
        try:
            write()
        except HoldfastError as error:
            problem = _in_words(error)
            self._retry_at[what] = time.monotonic() + AGAIN_SECONDS
            if problem != self._problems.get(what):
                self._problems[what] = problem
                self._log("status", problem=problem)
        else:
            self._problems.pop(what, None)

    def _write_status(self) -> None:
        client = self._client = self._client or self._connect()
        try:
            self._live = self._with_status(client, self._live or self._apply(client))
        except ApiError as error:
            was_there, self._live = self._live is not None, None
            if not (was_there and error.is_absent):
                raise
            # It was deleted: it is created again.
            self._live = self._with_status(client, self._apply(client))

    def _with_status(self, client: ApiClient, live: KubeObject) -> KubeObject:
        status = self._status(live, int(live["metadata"]["generation"]))
        if status == live.get("status"):
            return live
        body = agent_stack_body(self._held.name, {"status": status})
        return apply_status(client, ENTRY, self._held.ref, body, Writer(FIELD_MANAGER))

    def _write_events(self) -> None:
        assert self._client is not None  # noqa: S101  (a status was written)
        assert self._live is not None  # noqa: S101  (as above)
        if self._events is None or self._events.client is not self._client:
            self._events = EventRecorder(
                self._client, CONTROLLER, self._held.instance, has_series=False
            )
        while self._pending_events:
            first = self._pending_events[0]
            self._events.record(self._live, first.reason, first.note, is_warning=first.is_warning)
            self._pending_events.popleft()

    def _apply(self, client: ApiClient) -> KubeObject:
        spec = {
            "repository": self._held.repository,
            "branch": self._held.branch,
            "path": self._held.path,
        }
        body = agent_stack_body(self._held.name, {"spec": spec})
        return apply_object(client, ENTRY, self._held.ref, body, Writer(FIELD_MANAGER))

    def _status(self, live: KubeObject, generation: int) -> dict[str, Any]:
        known, now = self._conditions, utc_now()
        before, recorded = mapping_at(live, "status"), control_of(live).conflicts
        conflicts = [
            {"object": name, "path": path, "since": recorded.get((name, path), now)}
            for name, path in known.conflicts
        ]
        status = {
            "observedGeneration": generation,
            "wantedCommit": known.wanted,
            "commit": known.running,
            "conflicts": conflicts,
            "conditions": with_times(known.now(), before.get("conditions") or (), generation, now),
        }
        return {key: value for key, value in status.items() if value not in ("", [])}


def _in_words(error: HoldfastError) -> str:
    if isinstance(error, ApiError) and error.is_absent:
        return (
            f"the cluster does not serve {AGENT_STACK_KIND}; run `holdfast operator install`, and "
            "the state of the stack can be read there, too"
        )
    if isinstance(error, ApiError) and error.is_forbidden:
        return f"{error.message}; `holdfast drift rbac -s STACK --loop` prints the rights it needs"
    return str(error)


_LABELS: Final = {
    "app.kubernetes.io/managed-by": "holdfast",
    "app.kubernetes.io/instance": "holdfast-reconcile",
}


def status_writer_rbac(stack: str, teller: Reader) -> list[KubeObject]:
    """Roles and bindings with which a loop may report the state of one stack.

    Law: only the resource of that stack is written, and of Events none is changed or deleted.

    Args:
        stack: Which stack.
        teller: The reporting client, under which name.
    """
    own, plural = api_group(API_VERSION), ENTRY.plural
    # Server-side apply names what it makes: `create` can be limited to it as well.
    names = [agent_stack_ref(stack).name]
    written = policy_rule(own, [plural, f"{plural}/status"], ["create", "patch"], names)
    # A LIST or WATCH that selects the name is allowed by it.
    read = policy_rule(own, [plural], ["get", "list", "watch"], names)
    events = policy_rule(api_group(EVENTS), ["events"], ["create"])
    metadata: KubeObject = {"name": teller.name, "labels": dict(_LABELS)}
    there = {**metadata, "namespace": NAMESPACE_OF_THE_CLUSTER}
    return [
        *role_and_binding(metadata, [written, read], teller.subject),
        *role_and_binding(there, [events], teller.subject),
    ]
