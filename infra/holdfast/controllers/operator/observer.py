"""What is known of one agent: what the watch heard, what is declared, and how they differ.

Different agents are observed from different threads; what one needs of the others is guarded.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from holdfast.controllers.operator.agent_store import AgentStore
from holdfast.controllers.operator.agent_view import AgentView
from holdfast.controllers.operator.declaration import ResourceDeclaration, Verdicts
from holdfast.controllers.operator.failover import FailoverState, failover_state_of
from holdfast.controllers.watch.dispatcher import timestamp_at
from holdfast.drift.finding import Finding
from holdfast.drift.record.ledger import Ledger, Timestamp
from holdfast.drift.scan import LiveState
from holdfast.kube.objects import Identity, KubeObject, NamespacedName, ObjectRef, reference_of
from holdfast.kube.scalars import format_utc
from holdfast.manifest.agent.model import as_reference
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.kinds.kinds import McpServer, ModelConfig

_VerdictKey = tuple[str, Verdicts, date]
"""What a verdict was made with: a revision, the rules and waivers, and the day."""

Read = Callable[[ObjectRef], KubeObject | None]


class AgentObserver:
    """Sees agents as they are wanted and as they are, and remembers since when they differ."""

    def __init__(self, store: AgentStore, read: Read) -> None:
        """Prepare to see.

        Args:
            store: What the watch has heard.
            read: Asks the server for one object.
        """
        self._store, self._read = store, read
        self._ledger = Ledger()
        self._noting = threading.Lock()
        self._broken: dict[NamespacedName, tuple[_VerdictKey, tuple[str, ...]]] = {}
        self._known: dict[NamespacedName, set[Identity]] = {}
        self._contested: set[NamespacedName] = set()
        self._down_since: dict[NamespacedName, float] = {}

    @property
    def open_findings(self) -> tuple[tuple[Finding, Timestamp], ...]:
        """Everything that is found and since when."""
        with self._noting:
            return tuple(self._ledger)

    def is_too_early(self, place: NamespacedName, declaration: ResourceDeclaration) -> bool:
        """Whether a kind of the agent's objects is still being read; it is asked for again then."""
        kinds = {item.manifest["kind"] for item in declaration.rendered.get(place, ())}
        return bool(kinds - self._store.listed - self._store.blind.keys())

    def observed(
        self,
        place: NamespacedName,
        resource: KubeObject,
        declaration: ResourceDeclaration,
        error: str,
    ) -> AgentView:
        """An agent and what there is of it, not yet compared.

        Args:
            place: Of the agent.
            resource: The live Agent.
            declaration: What is wanted.
            error: What the last write of its objects ended in.
        """
        rendered = declaration.rendered.get(place, ())
        kinds = {item.manifest["kind"] for item in rendered}
        blind = tuple(
            f"{kind}: {self._store.blind[kind]}"
            for kind in sorted(kinds & self._store.blind.keys())
        )
        live = self._store.of_agent(place)
        pods = tuple(one for each, one in live.items() if each[1] == "Pod")
        live = {each: one for each, one in live.items() if each[1] != "Pod"}
        view = AgentView(
            resource,
            mode=declaration.mode,
            invalid=declaration.resources.invalid.get(place, ()),
            unresolved=declaration.unresolved.get(place, ()),
            rendered=rendered,
            live=live,
            pods=pods,
            blind=blind,
            error=error,
            commit=declaration.settings.commit,
            is_updating=declaration.is_updating(place),
            stays=declaration.stays(place),
            engines=declaration.engines,
        )
        if not live and self._may_be_made(place, view):
            return replace(view, is_new=True)
        return view if blind else replace(view, live=live | self._unlabelled(rendered, live))

    def _may_be_made(self, place: NamespacedName, view: AgentView) -> bool:
        """Whether its objects are to be made: that spares asking for each of them first.

        Where a name has turned out to be taken, its owner has to be read first.
        """
        is_first = view.mode == "expand" and not view.was_programmed
        return is_first and not view.is_going and place not in self._contested

    def contest(self, place: NamespacedName) -> None:
        """A name that the agent needs is taken: its objects are looked for from now on."""
        self._contested.add(place)

    def compared(
        self,
        view: AgentView,
        place: NamespacedName,
        declaration: ResourceDeclaration,
        contested: frozenset[str],
        resting: frozenset[str] = frozenset(),
    ) -> AgentView:
        """The same with how it differs from what is declared, and which rules that breaks."""
        view = replace(view, broken=self._rules_broken(place, view, declaration))
        findings = () if view.blind else self._findings(place, view, declaration)
        agent = declaration.agents.get(place)
        return replace(
            view,
            findings=findings,
            contested=contested,
            resting=resting,
            drift_since=self._since(findings),
            model=model_name(agent, declaration.resources.fleet) if agent else "",
            tools=tool_digests(agent, declaration.resources.fleet) if agent else {},
            failover=self._failover(place, view, agent) if agent else None,
        )

    def _failover(
        self, place: NamespacedName, view: AgentView, agent: DeclaredAgent
    ) -> FailoverState | None:
        """How primary and standby stand, and since when none serves."""
        state = failover_state_of(
            agent.name, agent.spec.scaling.availability, view.live, agent.namespace
        )
        if state is None or not state.is_down:
            self._down_since.pop(place, None)
            return state
        now = time.monotonic()
        return replace(state, down_seconds=now - self._down_since.setdefault(place, now))

    def forget(self, place: NamespacedName) -> None:
        """The agent is gone."""
        now = timestamp_at(time.monotonic())
        with self._noting:
            for identity in self._known.pop(place, set()):
                self._ledger.note(identity, (), now)
        self._broken.pop(place, None)
        self._contested.discard(place)
        self._down_since.pop(place, None)

    def _unlabelled(
        self, rendered: Sequence[Any], live: Mapping[Identity, KubeObject]
    ) -> dict[Identity, KubeObject]:
        """Declared objects that the watch does not see: gone, or their labels were taken away."""
        found = {}
        for item in rendered:
            ref = reference_of(item.manifest)
            if ref.identity not in live:
                one = self._store.objects.get(ref.identity) or self._read(ref)
                if one is not None:
                    found[ref.identity] = one
        return found

    def _rules_broken(
        self, place: NamespacedName, view: AgentView, declaration: ResourceDeclaration
    ) -> tuple[str, ...]:
        revision = view.revision
        kept = self._broken.get(place)
        # Waivers and settings make other verdicts, and a waiver ends with its day.
        key = (revision, declaration.verdicts, datetime.now(UTC).date())
        if kept is not None and kept[0] == key:
            return kept[1]
        judge = declaration.verdicts.broken
        rules = sorted({rule for item in view.rendered for rule in judge(item.manifest)})
        self._broken[place] = (key, tuple(rules))
        return tuple(rules)

    def _findings(
        self, place: NamespacedName, view: AgentView, declaration: ResourceDeclaration
    ) -> tuple[Finding, ...]:
        declared = {reference_of(item.manifest).identity for item in view.rendered}
        only = frozenset(declared | view.live.keys())
        report = declaration.judge.report(LiveState(view.live), only)
        by_object: dict[Identity, list[Finding]] = {}
        for finding in report.findings:
            by_object.setdefault(finding.ref.identity, []).append(finding)
        now = timestamp_at(time.monotonic())
        with self._noting:
            for identity in only | self._known.get(place, set()):
                self._ledger.note(identity, by_object.get(identity, ()), now)
        self._known[place] = set(only)
        # What was never deployed is no drift: it was not taken away.
        outdated = {reference_of(each.manifest).identity for each in view.outdated}
        return tuple(
            each
            for each in report.findings
            if view.was_programmed
            or not view.is_updating
            or (each.path and each.ref.identity not in outdated)
        )

    def _since(self, findings: tuple[Finding, ...]) -> str:
        wanted = {
            (each.ref.identity, each.drift_class, each.path) for each in findings if each.is_drift
        }
        opened = [
            at.time
            for each, at in (self.open_findings if wanted else ())
            if (each.ref.identity, each.drift_class, each.path) in wanted
        ]
        if not opened:
            return ""
        return format_utc(min(opened))


def model_name(agent: DeclaredAgent, fleet: Fleet) -> str:
    """Name of an agent's model, its own or a shared one's; empty without one."""
    model = agent.spec.model
    if model is None:
        return ""
    if model.ref is None:
        return str(model.name or "")
    shared = fleet.find(ModelConfig, model.ref, agent.namespace)
    return str(shared.spec.name or "") if shared else ""


def tool_digests(agent: DeclaredAgent, fleet: Fleet) -> dict[str, str]:
    """Server, as the lock names it, to the digest of its reviewed tools; empty where there is none.

    A digest in the manifest wins over that of the tool server, and that over the lock's.
    """
    digests: dict[str, str] = {}
    for tool in agent.spec.tools:
        if tool.mcp is None:
            continue
        name, declared = str(tool.mcp.url), tool.mcp.digest
        if tool.mcp.server_ref is not None:
            server = fleet.find(McpServer, tool.mcp.server_ref, agent.namespace)
            name = "/".join(as_reference(tool.mcp.server_ref, agent.namespace))
            declared = declared or (server.spec.digest if server else None)
        locked = fleet.tool_lock.servers.get(name)
        digests[name] = declared or (locked.digest if locked else "")
    return digests
