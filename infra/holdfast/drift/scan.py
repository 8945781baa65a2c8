"""Everything declared against everything live: the whole report of one scan. Pure.

With the state of each agent and team in it, and the objects as the scan found them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from holdfast.drift.context import DriftContext
from holdfast.drift.finding import (
    FIELD_CLASSES,
    PROBES,
    AgentState,
    AgentStatus,
    DriftClass,
    DriftReport,
    ExpectedBy,
    Finding,
    NotChecked,
    Objects,
    Severity,
)
from holdfast.drift.made_objects import Makers, made_findings
from holdfast.drift.object_drift import object_findings, whole_object_finding
from holdfast.drift.owner_references import Owners
from holdfast.drift.plan.deployed import with_deployment
from holdfast.drift.unmanaged import UnmanagedFinder
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.kube.paths import ABSENT, with_value
from holdfast.manifest.types.marks import OWNER_LABEL, agent_of


@dataclass(frozen=True)
class LiveState:
    """What the cluster (or a file) holds, as far as it could be read.

    Attributes:
        objects: By identity; of the kinds that are declared also undeclared ones.
        unread: Which declared objects could not be read, and why.
        watched: Kinds that were read although none is declared: of most, metadata.
        settled: Declared objects that were judged when they were read, and are in sync.
        is_whole: Everything there is: what is not in `objects` does not exist. So of files.
    """

    objects: Objects
    unread: Mapping[Identity, NotChecked] = field(default_factory=dict)
    not_checked: tuple[NotChecked, ...] = ()
    watched: frozenset[tuple[str, str]] = frozenset()
    settled: Collection[Identity] = frozenset()
    is_whole: bool = False


class DriftJudge:
    """Judges live objects by one declaration: all of them, or only those that moved.

    Law: the findings of a whole report are those of its objects judged one by one.

    Attributes:
        declared: Reference and declaration of every declared object, by identity.
        context: What judging an object needs beside it.
    """

    def __init__(
        self, desired: Sequence[KubeObject], context: DriftContext, stack: str = ""
    ) -> None:
        """Prepare to judge.

        Args:
            desired: Each with its namespace filled in; no identity twice.
            context: What judging an object needs beside it.
            stack: Name in the label of the objects of this stack; empty where there is none.
        """
        self.context = context
        pairs = [(reference_of(one), one) for one in desired]
        self.declared = {ref.identity: (ref, one) for ref, one in pairs}
        self._kinds = {ref.identity.group_kind for ref, _ in pairs}
        self._unmanaged = UnmanagedFinder(desired, stack, context.declares)

    def report(self, live: LiveState, only: Collection[Identity] | None = None) -> DriftReport:
        """Compare declared objects with live ones, and find undeclared ones.

        Args:
            live: What the cluster holds.
            only: Identities to judge, as far as they are known here; None for everything.
        """
        findings: list[Finding] = []
        unchecked = set(live.not_checked)
        checked = 0
        for identity in self.declared if only is None else only:
            if identity not in self.declared:
                continue
            if identity in live.unread:
                unchecked.add(live.unread[identity])
                continue
            if identity in live.settled:
                checked += 1
                continue
            ref, one = self.declared[identity]
            try:
                findings += self._of_declared(ref, one, live.objects.get(identity))
                checked += 1
            except RecursionError:
                unchecked.add(NotChecked(str(ref), "nested too deeply to be compared"))
        findings += self._of_undeclared(live, only)
        findings.sort(key=lambda finding: finding.sort_key)
        report = DriftReport(tuple(findings), tuple(sorted(unchecked)), checked)
        rules = self.context.ignore
        return report if rules is None else rules.applied_to(report, is_whole=only is None)

    def is_in_sync(self, identity: Identity, live: Mapping[str, Any]) -> bool:
        """Whether a declared object shows nothing that could be a finding; for any thread.

        Neither an audit log nor a rule is asked: they say something of findings only.
        """
        if identity not in self.declared:
            return False
        ref, desired = self.declared[identity]
        if str(live.get("apiVersion")) != ref.api_version:
            return False
        try:
            return not object_findings(ref, desired, live, self._quiet)
        except RecursionError:
            return False

    @cached_property
    def _quiet(self) -> DriftContext:
        # Where an audit log can disprove a name, what rests on names alone is judged with the log.
        has_log = self.context.trail is not None
        return replace(self.context, trail=None, judge=None, believes_names=not has_log)

    def _of_declared(
        self, ref: ObjectRef, desired: KubeObject, found: Mapping[str, Any] | None
    ) -> list[Finding]:
        if found is None:
            findings = [whole_object_finding(ref, desired, DriftClass.MISSING, self.context)]
        else:
            findings = object_findings(ref, desired, found, self.context)
        return [with_deployment(each, desired, found, self.context) for each in findings]

    def _of_undeclared(
        self, live: LiveState, only: Collection[Identity] | None
    ) -> Iterator[Finding]:
        wanted = live.objects if only is None else [key for key in only if key in live.objects]
        candidates = ((key, live.objects[key]) for key in wanted if key not in self.declared)
        find = self.context.find_owner
        owners = Owners(live.objects, self.declared, live.is_whole, find)
        makers = Makers(live.objects, self.declared, find)
        for found, is_made in self._unmanaged.among(candidates, self._kinds | live.watched, owners):
            if is_made:
                yield from made_findings(found, makers, self.context)
            else:
                ref = reference_of(found)
                if self.context.is_kept(found):
                    yield self.remark_on_kept(ref, found)
                else:
                    yield whole_object_finding(ref, found, DriftClass.UNMANAGED, self.context)

    def remark_on_kept(self, ref: ObjectRef, found: Mapping[str, Any]) -> Finding:
        """What is said of an object that an update has kept when its agent went: no drift."""
        finding = whole_object_finding(ref, found, DriftClass.UNMANAGED, self.context)
        return replace(finding, severity=Severity.INFO, actors=())


def agents_of(
    desired: Iterable[Mapping[str, Any]],
    report: DriftReport,
    unread: Collection[Identity],
    *,
    is_blind: bool = False,
) -> tuple[AgentStatus, ...]:
    """State of every agent that declared objects name, sorted by name.

    Law: an agent of which an object could not be read is never in sync.

    Args:
        desired: Declared objects.
        report: What was found.
        unread: Identities that could not be read.
        is_blind: Nothing can be said of the stack as a whole.
    """
    drift = Counter(finding.agent for finding in report.drift)
    teams: dict[str, str] = {}
    unknown: set[str] = set()
    for one in desired:
        name = agent_of(one)
        if not name:
            continue
        team = str(mapping_at(one, "metadata", "labels").get(OWNER_LABEL) or "")
        teams[name] = teams.get(name) or team
        if unread and reference_of(one).identity in unread:
            unknown.add(name)
    return tuple(
        AgentStatus(
            name,
            teams[name],
            _state(drift[name], is_unknown=is_blind or name in unknown),
            drift[name],
        )
        for name in sorted(teams)
    )


def _state(findings: int, *, is_unknown: bool) -> AgentState:
    if findings:
        return AgentState.OUT_OF_SYNC
    return AgentState.UNKNOWN if is_unknown else AgentState.SYNCED


def by_team(agents: Iterable[AgentStatus]) -> dict[str, Counter[AgentState]]:
    """How many agents of each team are in each state."""
    teams: dict[str, Counter[AgentState]] = {}
    for agent in agents:
        teams.setdefault(agent.team, Counter())[agent.state] += 1
    return teams


def observed_objects(
    declared: Iterable[KubeObject], findings: Iterable[Finding]
) -> Iterator[KubeObject]:
    """The declared objects as they were found; what was missing is left out.

    Law: without findings it is the declaration.

    Args:
        declared: Objects as they were wanted, masked.
        findings: Of the scan, masked.
    """
    found: dict[Identity, list[Finding]] = {}
    for each in findings:
        found.setdefault(each.ref.identity, []).append(each)
    for one in declared:
        about = found.get(reference_of(one).identity, [])
        if any(each.drift_class is DriftClass.MISSING for each in about):
            continue
        seen = one
        for each in about:
            if _is_of_field(each):
                live = ABSENT if each.live is None else each.live
                seen = with_value(seen, each.path, live)
        yield seen


def _is_of_field(finding: Finding) -> bool:
    return (
        finding.drift_class in FIELD_CLASSES
        and bool(finding.path)
        and finding.path[0] != PROBES
        and finding.expected_by is not ExpectedBy.RECORD
    )
