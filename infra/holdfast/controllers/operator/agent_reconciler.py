"""One agent is reconciled: observe, diff, act, status; each phase logged under one id."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from holdfast.adapters.clock import utc_now
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.event_writing import EventRecorder
from holdfast.controllers.operator.actor import ClusterActor
from holdfast.controllers.operator.agent_store import OWN_GROUP, AgentStore
from holdfast.controllers.operator.agent_view import AgentView, field_name
from holdfast.controllers.operator.decision import Action, Decision, decide
from holdfast.controllers.operator.declaration import ResourceDeclaration
from holdfast.controllers.operator.metrics import OperatorMetrics
from holdfast.controllers.operator.observer import AgentObserver
from holdfast.controllers.operator.status import agent_status
from holdfast.controllers.runtime.conflicts import ConflictBreaker
from holdfast.controllers.runtime.log import LoggedRun, Runs
from holdfast.controllers.runtime.workers import WorkOutcome
from holdfast.drift.finding import Finding
from holdfast.errors import ClusterError
from holdfast.kube.conditions import turned
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.kube.paths import format_path
from holdfast.kube.structure import KindEntry
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.resource_fleet import Place
from holdfast.render.plan.marks import RenderedObject

LogRun = Callable[..., None]

_FIRST_NEWS: Final = frozenset({"Accepted", "ResolvedRefs", "PolicyCompliant"})
_NEWS: Final = _FIRST_NEWS | {"Programmed", "Ready", "Drifted", "FailedOver", "LastRun"}
"""Conditions whose turns are Events; of an agent that is new, only what a person must fix."""

BESIDE: Final = ("node/", "metric/")
"""Triggers beside what is declared and what belongs to an agent: such a run is always logged."""

_BAD_NEWS: Final = frozenset({"Drifted", "FailedOver"})
"""Conditions of which True is the bad news."""


class AgentReconciler:
    """Reconciles agents, one at a time each; different agents from different threads.

    Attributes:
        actor: Who writes.
        seeing: Who puts together what is known.
    """

    def __init__(
        self,
        client: ApiClient,
        kinds: Mapping[tuple[str, str], KindEntry],
        store: AgentStore,
        instance: str,
        metrics: OperatorMetrics,
        runs: Runs,
    ) -> None:
        events = EventRecorder(client, "holdfast.dev/operator", instance)
        self.actor = ClusterActor(client, kinds, metrics.count_write, events)
        self.observer = AgentObserver(store, self.actor.read)
        self._store = store
        self._metrics = metrics
        self._runs = runs
        self._breaker: ConflictBreaker[tuple[Place, str]] = ConflictBreaker()
        self._errors: dict[Place, str] = {}

    @property
    def conflicts(self) -> int:
        """How many fields are only reported because other clients keep writing them."""
        return len(self._breaker.open_keys)

    def reset_backoff(self, place: Place) -> None:
        """The agent's resource was changed: conflicts and errors about it are over."""
        for key in self._breaker.open_keys:
            if key[0] == place:
                self._breaker.close(key)
        self._errors.pop(place, None)

    def reconcile(
        self, place: Place, declaration: ResourceDeclaration, triggers: Sequence[str] = ()
    ) -> WorkOutcome:
        """Reconcile one agent; an outcome names when to do that again, such as for a failover.

        Raises:
            ClusterError: its status cannot be written.
        """
        resource = self._store.resource(place)
        if resource is None:
            self._forget(place)
            return WorkOutcome()
        if not declaration.knows(place):
            return WorkOutcome()  # it came after the declaration was read, and comes with the next
        if self.observer.is_too_early(place, declaration):
            return WorkOutcome()
        started = time.monotonic()
        namespace, agent = place
        with self._runs.begin(triggers, namespace=namespace, agent=agent) as run:
            decision, outcome = self._reconcile(place, resource, declaration, run)
            is_done = outcome.is_done
            run.span.note(action=decision.action.value, outcome="done" if is_done else "failed")
        seconds = time.monotonic() - started
        self._metrics.count_reconcile(decision.action.value, seconds, failed=not is_done)
        return outcome

    def _reconcile(
        self, place: Place, resource: KubeObject, declaration: ResourceDeclaration, run: LoggedRun
    ) -> tuple[Decision, WorkOutcome]:
        """Observe, diff, act, tell; returns what was decided and what came of it."""
        with run.phase("observe") as observing:
            view = self._observed(place, resource, declaration)
            observing.note(objects=len(view.live), pods=len(view.pods), revision=view.revision)
        with run.phase("diff") as comparing:
            view = self._compared(view, place, declaration)
            agent = declaration.agents.get(place)
            decision = decide(view, agent.spec.drift.mode if agent else "report")
            comparing.note(findings=len(view.drift), decision=decision.reason)
        is_acting = decision.action is not Action.NOTHING
        if is_acting or any(each.startswith(BESIDE) for each in run.triggers):
            objects, pods, revision = len(view.live), len(view.pods), view.revision
            run.log("observe", trigger=run.triggers, objects=objects, pods=pods, revision=revision)
            found = [str(each.ref) for each in view.drift]
            run.log("diff", findings=found, decision=decision.reason)
        if is_acting or decision.refusal:
            with run.phase("act", action=decision.action.value) as acting:
                is_done = self._act(place, decision, declaration, run.log)
                if place in self._errors:
                    acting.fail(self._errors[place])
            resource = self._store.resource(place) or resource
            view = self._observed(place, resource, declaration)
            view = self._compared(view, place, declaration)
        else:
            self._errors.pop(place, None)
            is_done = True
        again_seconds = view.failover.seconds_left if view.failover is not None else None
        if decision.action is not Action.RELEASE or not is_done:
            with run.phase("status") as telling:
                telling.note(written=self._report(view, place, run.log))
        return decision, WorkOutcome(is_done, again_seconds or None)

    def _observed(
        self, place: Place, resource: KubeObject, declaration: ResourceDeclaration
    ) -> AgentView:
        return self.observer.observed(place, resource, declaration, self._errors.get(place, ""))

    def _compared(
        self, view: AgentView, place: Place, declaration: ResourceDeclaration
    ) -> AgentView:
        contested = frozenset(name for owner, name in self._breaker.open_keys if owner == place)
        return self.observer.compared(view, place, declaration, contested)

    def _act(
        self, place: Place, decision: Decision, declaration: ResourceDeclaration, log: LogRun
    ) -> bool:
        """Do it; returns whether it went well."""
        if decision.refusal:
            if self._errors.get(place) != decision.refusal:
                log("act", level="error", action=decision.action, refused=decision.refusal)
            self._errors[place] = decision.refusal
            return True  # trying again changes nothing
        log("act", action=decision.action)
        try:
            self._do(place, decision, declaration, log)
        except ClusterError as error:
            self._errors[place] = str(error)
            log("act", level="error", action=decision.action, problem=str(error))
            return False
        self._errors.pop(place, None)
        return True

    def _do(
        self, place: Place, decision: Decision, declaration: ResourceDeclaration, log: LogRun
    ) -> None:
        for item in () if decision.create_only else decision.apply:
            written = self.actor.apply(item.manifest)
            self._store.put(reference_of(item.manifest).identity, written)
        if decision.create_only:
            self._make(place, decision.apply)
        for live in decision.remove:
            self.actor.remove(live)
        if decision.action is Action.REVERT:
            self._revert(place, decision.revert, declaration, log)
        if decision.action is Action.RELEASE:
            resource = self._store.resource(place)
            if resource is not None:  # else it went while its objects were deleted
                self.actor.release(resource)

    def _make(self, place: Place, items: Sequence[RenderedObject]) -> None:
        """Make everything, or nothing where a name is taken.

        Raises:
            ClusterError: a write failed, or a name is taken.
        """
        made: list[KubeObject] = []
        for item in items:
            ref = reference_of(item.manifest)
            written = self.actor.make(item.manifest)
            if written is None:
                self.observer.contest(place)
                for one in reversed(made):
                    self.actor.remove(_of_any_version(one))
                raise ClusterError(f"exists already: {ref}")
            made.append(written)
            self._store.put(ref.identity, written)

    def _revert(
        self,
        place: Place,
        findings: Sequence[Finding],
        declaration: ResourceDeclaration,
        log: LogRun,
    ) -> None:
        resource = self._store.resource(place)
        for ref in dict.fromkeys(each.ref for each in findings):
            paths = {each.path for each in findings if each.ref == ref}
            written = self.actor.revert(ref, declaration.judge, paths)
            if written is None:
                continue
            self._store.put(ref.identity, written)
            names = ", ".join(sorted(format_path(path) for path in paths)) or "all of it"
            log("act", reverted=str(ref), paths=names)
            if resource is not None:
                self.actor.record_event(
                    resource, "Reverted", f"reverted {ref}: {names}", is_warning=False
                )
            for path in paths:
                name = field_name(ref, path)
                if self._breaker.note((place, name), time.monotonic()):
                    self._metrics.count_conflict()
                    log("act", level="warning", conflict=name)

    def _report(self, view: AgentView, place: Place, log: LogRun) -> bool:
        """Write the status when it is another one, and record what turned."""
        status = agent_status(view, utc_now())
        before = view.status
        if status == before:
            return False
        log(
            "status",
            phase_of_agent=status["phase"],
            findings=len(view.drift),
            objects=len(view.rendered),
        )
        written = self.actor.write_status(view.resource, status)
        self._store.put(Identity(OWN_GROUP, AGENT_KIND, *place), written)
        for each in turned(before.get("conditions") or (), status["conditions"]):
            is_good = (each["status"] == "True") != (each["type"] in _BAD_NEWS)
            if each["status"] != "Unknown" and each["type"] in (_NEWS if before else _FIRST_NEWS):
                note = f"{each['type']} is {each['status']}: {each['message']}"
                if before or not is_good:
                    self.actor.record_event(
                        view.resource, each["reason"], note, is_warning=not is_good
                    )
        return True

    def _forget(self, place: Place) -> None:
        self.observer.forget(place)
        self.reset_backoff(place)


def _of_any_version(one: KubeObject) -> KubeObject:
    """An object as controllers may have changed it by now: it is still the one that was made."""
    metadata = {key: value for key, value in one["metadata"].items() if key != "resourceVersion"}
    return {**one, "metadata": metadata}
