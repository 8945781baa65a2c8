"""What probes say: findings like any other, and what could not be asked."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from holdfast.drift.finding import (
    PROBES,
    AgentState,
    AgentStatus,
    DriftClass,
    DriftReport,
    Finding,
    NotChecked,
    Severity,
    with_findings,
)
from holdfast.drift.masking import MASK, MASK_CHANGED, mask_value
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import Segment


@dataclass(frozen=True)
class Subject:
    """Whom a probe is about.

    Attributes:
        agent: Name of the agent.
        workload: The object that runs it, which its findings name.
    """

    agent: str
    workload: ObjectRef


@dataclass(frozen=True)
class ProbeOutcome:
    """What some probes say.

    Attributes:
        asked: How many answers were compared.
        unknown_agents: Agents of which something could not be asked.
    """

    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    asked: int = 0
    unknown_agents: frozenset[str] = frozenset()

    @classmethod
    def together(cls, outcomes: "Iterable[ProbeOutcome]") -> "ProbeOutcome":
        """Several outcomes as one."""
        parts = list(outcomes)
        return cls(
            tuple(each for part in parts for each in part.findings),
            tuple(each for part in parts for each in part.not_checked),
            sum(part.asked for part in parts),
            frozenset().union(*(part.unknown_agents for part in parts)),
        )

    def added_to(self, report: DriftReport) -> DriftReport:
        """A report that says this, too, in the order that reports have.

        An agent of which a probe found something is out of sync, one of which a probe could not be
        put is at best unknown.
        """
        found = Counter(each.agent for each in self.findings if each.is_drift)
        blind = self.unknown_agents
        return replace(
            with_findings(report, self.findings),
            not_checked=tuple(sorted({*report.not_checked, *self.not_checked})),
            agents=tuple(_with_probes(each, found[each.name], blind) for each in report.agents),
        )


def _with_probes(agent: AgentStatus, found: int, blind: frozenset[str]) -> AgentStatus:
    if found:
        count = agent.findings + found
        return replace(agent, state=AgentState.OUT_OF_SYNC, findings=count)
    if agent.state is AgentState.SYNCED and agent.name in blind:
        return replace(agent, state=AgentState.UNKNOWN)
    return agent


def as_declared() -> ProbeOutcome:
    """The answer is what was declared."""
    return ProbeOutcome(asked=1)


def differs(
    subject: Subject,
    path: tuple[Segment, ...],
    desired: Any,  # noqa: ANN401  (any JSON value)
    live: Any,  # noqa: ANN401  (any JSON value)
    severity: Severity,
) -> ProbeOutcome:
    """The answer is not what was declared; None stands for nothing declared, or nothing there."""
    drift_class = DriftClass.CHANGED
    if desired is None:
        drift_class = DriftClass.ADDED
    elif live is None:
        drift_class = DriftClass.REMOVED
    finding = Finding(
        subject.workload,
        subject.agent,
        drift_class,
        (PROBES, *path),
        mask_value(desired, MASK),
        mask_value(live, MASK_CHANGED),
        severity,
    )
    return ProbeOutcome((finding,), asked=1)


def unknown(subject: Subject, what: str, reason: str) -> ProbeOutcome:
    """The question could not be put, or the answer not be read."""
    not_checked = (NotChecked(f"{what} of {subject.workload}", reason),)
    return ProbeOutcome(not_checked=not_checked, unknown_agents=frozenset({subject.agent}))
