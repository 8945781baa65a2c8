"""One agent is reconciled: observe, diff, act, status; each phase logged under one id."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from holdfast.adapters.clock import utc_now
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.event_recorder import EventRecorder
from holdfast.controllers.operator.actor import ClusterActor
from holdfast.controllers.operator.agent_store import OWN_GROUP, AgentStore
from holdfast.controllers.operator.agent_view import AgentView, field_name
from holdfast.controllers.operator.decision import Action, Decision, decide
from holdfast.controllers.operator.declaration import ResourceDeclaration
from holdfast.controllers.operator.metrics import OperatorMetrics
from holdfast.controllers.operator.observer import AgentObserver
from holdfast.controllers.operator.status import agent_status
from holdfast.controllers.runtime.conflicts import REST_SECONDS, ConflictBreaker
from holdfast.controllers.runtime.log import LoggedRun, Runs
from holdfast.controllers.runtime.workers import WorkOutcome
from holdfast.drift.finding import Finding, Severity
from holdfast.errors import ClusterError
from holdfast.kube.conditions import turned
from holdfast.kube.objects import Identity, KubeObject, NamespacedName, reference_of
from holdfast.kube.paths import format_path
from holdfast.kube.structure import KindEntry
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.render.plan.metadata import RenderedObject

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
        self._breaker: ConflictBreaker[tuple[NamespacedName, str]] = ConflictBreaker()
        self._errors: dict[NamespacedName, str] = {}

    @property
    def conflicts(self) -> int:
        """How many fields are only reported because other clients keep writing them."""
        return len(self._breaker.open_keys)

    def reset_backoff(self, place: NamespacedName) -> None:
        """The agent's resource was changed: conflicts and errors about it are over."""
        for key in self._breaker.open_keys:
            if key[0] == place:
                self._breaker.close(key)
        self._errors.pop(place, None)

    def reconcile(
        self, place: NamespacedName, declaration: ResourceDeclaration, triggers: Sequence[str] = ()
    ) -> WorkOutcome:
        """Reconcile one agent; an outcome names when to do that again, such as for a failover.

        Raises:
            ClusterError: its status cannot be written.
        """
        if wanted := declaration.altered.get(place):
            self._restore(place, wanted, declaration)
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
        self,
        place: NamespacedName,
        resource: KubeObject,
        declaration: ResourceDeclaration,
        run: LoggedRun,
    ) -> tuple[Decision, WorkOutcome]:
        """Observe, diff, act, report; returns what was decided and what came of it."""
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
        if any(each.severity is Severity.CRITICAL for each in view.drift):
            # Whatever keeps it from being reverted now, a pause or a conflict, may end.
            again_seconds = min(again_seconds or REST_SECONDS, REST_SECONDS)
        if decision.action is not Action.RELEASE or not is_done:
            with run.phase("status") as status_write:
                status_write.note(written=self._report(view, place, run.log))
        return decision, WorkOutcome(is_done, again_seconds or None)

    def _observed(
        self, place: NamespacedName, resource: KubeObject, declaration: ResourceDeclaration
    ) -> AgentView:
        return self.observer.observed(place, resource, declaration, self._errors.get(place, ""))

    def _compared(
        self, view: AgentView, place: NamespacedName, declaration: ResourceDeclaration
    ) -> AgentView:
        contested = [key for key in self._breaker.open_keys if key[0] == place]
        now = time.monotonic()
        resting = [key for key in contested if not self._breaker.has_rested(key, now)]
        return self.observer.compared(
            view, place, declaration, _names_of(contested), _names_of(resting)
        )

    def _restore(
        self, place: NamespacedName, wanted: KubeObject, declaration: ResourceDeclaration
    ) -> None:
        """Put an agent's resource back as it was deployed, where its drift is reverted.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        agent = declaration.agents.get(place)
        is_reverted = agent is not None and agent.spec.drift.mode == "revert"
        if not (is_reverted or declaration.mode == "expand"):
            return
        live = self._store.resource(place)
        if live is not None and live["metadata"].get("deletionTimestamp"):
            return  # it goes first
        if not declaration.believed.declaration.is_current(self.actor.read):
            return
        written = self.actor.restore(wanted)
        self._store.put(reference_of(written).identity, written)
        with self._runs.begin(("altered",), namespace=place[0], agent=place[1]) as run:
            run.log("act", restored=str(reference_of(wanted)))
        self.actor.record_event(written, "Restored", "restored as deployed", is_warning=True)

    def _act(
        self,
        place: NamespacedName,
        decision: Decision,
        declaration: ResourceDeclaration,
        log: LogRun,
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
        self,
        place: NamespacedName,
        decision: Decision,
        declaration: ResourceDeclaration,
        log: LogRun,
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
        resource = self._store.resource(place)
        if decision.action is Action.RELEASE and resource is not None:
            # Else it went while its objects were deleted.
            self._release(place, resource, declaration)

    def _release(
        self, place: NamespacedName, resource: KubeObject, declaration: ResourceDeclaration
    ) -> None:
        believed = declaration.believed.declaration
        if declaration.stays(place) and not believed.is_current(self.actor.read):
            raise ClusterError("the deployer has declared something else in between")
        self.actor.release(resource)

    def _make(self, place: NamespacedName, items: Sequence[RenderedObject]) -> None:
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
        place: NamespacedName,
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

    def _report(self, view: AgentView, place: NamespacedName, log: LogRun) -> bool:
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

    def _forget(self, place: NamespacedName) -> None:
        self.observer.forget(place)
        self.reset_backoff(place)


def _names_of(keys: Iterable[tuple[NamespacedName, str]]) -> frozenset[str]:
    return frozenset(name for _, name in keys)


def _of_any_version(one: KubeObject) -> KubeObject:
    """An object as controllers may have changed it by now: it is still the one that was made."""
    metadata = {key: value for key, value in one["metadata"].items() if key != "resourceVersion"}
    return {**one, "metadata": metadata}
