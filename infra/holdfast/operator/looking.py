"""One look at one agent: observe, diff, act, tell; each phase logged under one id."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from holdfast.cluster.client import ApiClient
from holdfast.drift.finding import Finding
from holdfast.drift.ledger import Ledger, Moment
from holdfast.drift.scan import LiveState
from holdfast.errors import ClusterError
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.paths import format_path
from holdfast.kube.structure import KindEntry
from holdfast.manifest.agent import AGENT_KIND
from holdfast.manifest.resource_fleet import Place
from holdfast.operator.actor import Actor
from holdfast.operator.agent_view import AgentView, Identity, field_name
from holdfast.operator.board import OWN_GROUP, Board
from holdfast.operator.conditions import turned
from holdfast.operator.decision import Decision, Deed, decide
from holdfast.operator.declaration import Declaration
from holdfast.operator.journal import Journal, utc_now
from holdfast.operator.metrics import OperatorMetrics
from holdfast.operator.resolved import model_name, tool_digests
from holdfast.operator.status import agent_status
from holdfast.reconcile.fights import FightBreaker
from holdfast.reconcile.telling import moment

if TYPE_CHECKING:
    from holdfast.operator.loop import LoopSettings

Say = Callable[..., None]

_FIRST_NEWS: Final = frozenset({"Accepted", "ResolvedRefs", "PolicyCompliant"})
_NEWS: Final = _FIRST_NEWS | {"Programmed", "Ready", "Drifted"}
"""Conditions whose turns are Events; of an agent that is new, only what a person must mend."""


class Looking:
    """Looks at agents, one at a time each; different agents from different threads.

    Attributes:
        actor: Who writes.
    """

    def __init__(
        self,
        client: ApiClient,
        kinds: Mapping[tuple[str, str], KindEntry],
        board: Board,
        settings: "LoopSettings",
        metrics: OperatorMetrics,
        journal: Journal,
    ) -> None:
        self.actor = Actor(client, kinds, metrics.count_write, settings.instance)
        self._board = board
        self._metrics = metrics
        self._journal = journal
        self._ledger = Ledger()
        self._noting = threading.Lock()
        self._breaker: FightBreaker[tuple[Place, str]] = FightBreaker()
        self._errors: dict[Place, str] = {}
        self._broken: dict[Place, tuple[str, tuple[str, ...]]] = {}
        self._known: dict[Place, set[Identity]] = {}

    @property
    def fights(self) -> int:
        """How many fields are left alone because somebody else writes them again and again."""
        return len(self._breaker.open_keys)

    @property
    def open_findings(self) -> tuple[tuple[Finding, Moment], ...]:
        """Everything that is found and since when."""
        with self._noting:
            return tuple(self._ledger)

    def forgive(self, place: Place) -> None:
        """The agent's resource was changed: fights over it and errors about it are over."""
        for key in self._breaker.open_keys:
            if key[0] == place:
                self._breaker.close(key)
        self._errors.pop(place, None)

    def look_at(self, place: Place, declaration: Declaration) -> bool:
        """Look at one agent; returns whether nothing is left to be tried again.

        Raises:
            ClusterError: its status cannot be written.
        """
        started = time.monotonic()
        resource = self._board.objects.get((OWN_GROUP, AGENT_KIND, *place))
        if resource is None:
            self._forget(place)
            return True
        if not declaration.knows(place):
            return True  # it came after the declaration was read, and is looked at with the next
        if self._is_too_early(place, declaration):
            return True
        say = self._journal.of_agent(place)
        view = self._view(place, resource, declaration)
        agent = declaration.agents.get(place)
        drift_mode = agent.spec.drift.mode if agent else "report"
        decision = decide(view, drift_mode)
        if decision.deed is not Deed.NOTHING:
            say("observe", objects=len(view.live), pods=len(view.pods), revision=view.revision)
            say("diff", findings=[str(each.ref) for each in view.drift], decision=decision.reason)
        is_done = self._act(place, decision, declaration, say)
        if decision.deed is not Deed.NOTHING or decision.refusal:
            view = self._view(
                place,
                self._board.objects.get((OWN_GROUP, AGENT_KIND, *place), resource),
                declaration,
            )
        if decision.deed is not Deed.RELEASE or not is_done:
            self._tell(view, place, say)
        seconds = time.monotonic() - started
        self._metrics.count_look(decision.deed.value, seconds, failed=not is_done)
        return is_done

    def _is_too_early(self, place: Place, declaration: Declaration) -> bool:
        """Whether a kind of the agent's objects is still being read; it is asked for again then."""
        kinds = {item.manifest["kind"] for item in declaration.rendered.get(place, ())}
        board = self._board
        return bool(kinds - board.listed - board.blind.keys())

    def _view(self, place: Place, resource: KubeObject, declaration: Declaration) -> AgentView:
        rendered = declaration.rendered.get(place, ())
        kinds = {item.manifest["kind"] for item in rendered}
        blind = tuple(
            f"{kind}: {self._board.blind[kind]}"
            for kind in sorted(kinds & self._board.blind.keys())
        )
        view = AgentView(
            resource,
            mode=declaration.mode,
            invalid=declaration.resources.invalid.get(place, ()),
            unresolved=declaration.unresolved.get(place, ()),
            rendered=rendered,
            blind=blind,
            error=self._errors.get(place, ""),
            commit=declaration.settings.commit,
        )
        live = self._board.of_agent(place)
        pods = tuple(one for each, one in live.items() if each[1] == "Pod")
        live = {each: one for each, one in live.items() if each[1] != "Pod"}
        if not blind:
            live |= self._unlabelled(rendered, live)
        view = replace(
            view, live=live, pods=pods, broken=self._rules_broken(place, view, declaration)
        )
        findings = () if blind else self._findings(place, view, declaration)
        agent = declaration.agents.get(place)
        return replace(
            view,
            findings=findings,
            fought=frozenset(name for owner, name in self._breaker.open_keys if owner == place),
            drift_since=self._since(findings),
            model=model_name(agent, declaration.resources.fleet) if agent else "",
            tools=tool_digests(agent, declaration.resources.fleet) if agent else {},
        )

    def _unlabelled(
        self, rendered: Sequence[Any], live: Mapping[Identity, KubeObject]
    ) -> dict[Identity, KubeObject]:
        """Declared objects that the watch does not see: gone, or their labels were taken away."""
        found = {}
        for item in rendered:
            ref = reference_of(item.manifest)
            if ref.identity not in live:
                one = self._board.objects.get(ref.identity) or self.actor.read(ref)
                if one is not None:
                    found[ref.identity] = one
        return found

    def _rules_broken(
        self, place: Place, view: AgentView, declaration: Declaration
    ) -> tuple[str, ...]:
        revision = view.revision
        kept = self._broken.get(place)
        if kept is not None and kept[0] == revision:
            return kept[1]
        judge = declaration.verdicts.broken
        rules = sorted({rule for item in view.rendered for rule in judge(item.manifest)})
        self._broken[place] = (revision, tuple(rules))
        return tuple(rules)

    def _findings(
        self, place: Place, view: AgentView, declaration: Declaration
    ) -> tuple[Finding, ...]:
        declared = {reference_of(item.manifest).identity for item in view.rendered}
        only = frozenset(declared | view.live.keys())
        report = declaration.judge.report(LiveState(view.live), only)
        by_object: dict[Identity, list[Finding]] = {}
        for finding in report.findings:
            by_object.setdefault(finding.ref.identity, []).append(finding)
        now = moment(time.monotonic())
        with self._noting:
            for identity in only | self._known.get(place, set()):
                self._ledger.note(identity, by_object.get(identity, ()), now)
        self._known[place] = set(only)
        # What was never deployed is no drift: nobody took it away.
        outdated = {reference_of(each.manifest).identity for each in view.outdated}
        return tuple(
            each
            for each in report.findings
            if view.was_programmed or (each.path and each.ref.identity not in outdated)
        )

    def _since(self, findings: tuple[Finding, ...]) -> str:
        wanted = {
            (each.ref.identity, each.drift_class, each.path) for each in findings if each.counts
        }
        opened = [
            at.time
            for each, at in (self.open_findings if wanted else ())
            if (each.ref.identity, each.drift_class, each.path) in wanted
        ]
        if not opened:
            return ""
        return min(opened).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

    def _act(self, place: Place, decision: Decision, declaration: Declaration, say: Say) -> bool:
        """Do it; returns whether it went well."""
        if decision.refusal:
            if self._errors.get(place) != decision.refusal:
                say("act", level="error", deed=decision.deed, refused=decision.refusal)
            self._errors[place] = decision.refusal
            return True  # trying again changes nothing
        if decision.deed is Deed.NOTHING:
            self._errors.pop(place, None)
            return True
        say("act", deed=decision.deed)
        try:
            self._do(place, decision, declaration, say)
        except ClusterError as error:
            self._errors[place] = str(error)
            say("act", level="error", deed=decision.deed, problem=str(error))
            return False
        self._errors.pop(place, None)
        return True

    def _do(self, place: Place, decision: Decision, declaration: Declaration, say: Say) -> None:
        for item in decision.apply:
            written = self.actor.apply(item.manifest)
            self._board.put(reference_of(item.manifest).identity, written)
        for live in decision.remove:
            self.actor.remove(live)
        if decision.deed is Deed.REVERT:
            self._revert(place, decision.revert, declaration, say)
        if decision.deed is Deed.RELEASE:
            self.actor.release(self._board.objects[OWN_GROUP, AGENT_KIND, *place])

    def _revert(
        self, place: Place, findings: Sequence[Finding], declaration: Declaration, say: Say
    ) -> None:
        resource = self._board.objects[OWN_GROUP, AGENT_KIND, *place]
        for ref in dict.fromkeys(each.ref for each in findings):
            paths = {each.path for each in findings if each.ref == ref}
            written = self.actor.put_back(ref, declaration.judge, paths)
            if written is None:
                continue
            self._board.put(ref.identity, written)
            names = ", ".join(sorted(format_path(path) for path in paths)) or "all of it"
            say("act", reverted=str(ref), paths=names)
            self.actor.tell(resource, "Reverted", f"put back {ref}: {names}", is_warning=False)
            for path in paths:
                name = field_name(ref, path)
                if self._breaker.note((place, name), time.monotonic()):
                    self._metrics.count_fight()
                    say("act", level="warning", fight=name)

    def _tell(self, view: AgentView, place: Place, say: Say) -> None:
        """Write the status when it is another one, and tell of what turned."""
        status = agent_status(view, utc_now())
        before = view.status
        if status == before:
            return
        say(
            "status",
            phase_of_agent=status["phase"],
            findings=len(view.drift),
            objects=len(view.rendered),
        )
        written = self.actor.write_status(view.resource, status)
        self._board.put((OWN_GROUP, AGENT_KIND, *place), written)
        for each in turned(before.get("conditions") or (), status["conditions"]):
            is_good = (each["status"] == "True") != (each["type"] == "Drifted")
            if each["status"] != "Unknown" and each["type"] in (_NEWS if before else _FIRST_NEWS):
                note = f"{each['type']} is {each['status']}: {each['message']}"
                if before or not is_good:
                    self.actor.tell(view.resource, each["reason"], note, is_warning=not is_good)

    def _forget(self, place: Place) -> None:
        now = moment(time.monotonic())
        with self._noting:
            for identity in self._known.pop(place, set()):
                self._ledger.note(identity, (), now)
        self._broken.pop(place, None)
        self.forgive(place)
